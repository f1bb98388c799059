import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryLog } from '../testing/memory-log.ts';
import { readFormerDevices } from './former-devices.ts';

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
  test(`devices of the kubelet before: ${name}`, async () => {
    const log = new MemoryLog();
    const found = await readFormerDevices({ path: '/checkpoint', read: async () => checkpoint }, log);
    assert.deepEqual(found, { devices: { capacity, allocatable: capacity, removed: [] }, resetAll });
    assert.equal(log.messages('error').length, errors);
  });
}

test('devices of the kubelet before: the disk does not let the checkpoint be read', async () => {
  const log = new MemoryLog();
  const read = (): Promise<string> => Promise.reject(new Error('input/output error'));
  const found = await readFormerDevices({ path: '/checkpoint', read }, log);
  assert.deepEqual(found, { devices: { capacity: {}, allocatable: {}, removed: [] }, resetAll: true });
  assert.deepEqual(log.messages('error'), ['The checkpoint of devices cannot be read']);
});
