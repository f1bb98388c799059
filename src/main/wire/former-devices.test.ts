import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MemoryLog } from '../../testing/memory-log.ts';
import { formerDevices } from './former-devices.ts';

const cases: Readonly<
  Record<string, readonly [checkpoint: string | undefined, capacity: object, resetAll: boolean, errors: number]>
> = {
  'no plugin has ever registered': [undefined, {}, true, 0],
  'a plugin had registered': [
    JSON.stringify({ Data: { RegisteredDevices: { 'nvidia.com/gpu': ['GPU-1'] } } }),
    { 'nvidia.com/gpu': '0' },
    false,
    0,
  ],
  'the checkpoint is broken': ['{', {}, true, 1],
};

for (const [name, [checkpoint, capacity, resetAll, errors]] of Object.entries(cases)) {
  test(`devices of the kubelet before: ${name}`, (context) => {
    const root = mkdtempSync(join(tmpdir(), 'tubelet-devices-'));
    context.after(() => rmSync(root, { recursive: true, force: true }));
    const log = new MemoryLog();
    if (checkpoint !== undefined) {
      mkdirSync(join(root, 'device-plugins'));
      writeFileSync(join(root, 'device-plugins/kubelet_internal_checkpoint'), checkpoint);
    }
    const found = formerDevices(root, log);
    assert.deepEqual(found, { devices: { capacity, allocatable: capacity, removed: [] }, resetAll });
    assert.equal(log.messages('error').length, errors);
  });
}
