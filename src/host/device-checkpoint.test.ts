import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { deviceCheckpoint } from './device-checkpoint.ts';

test('the checkpoint of devices: missing, valid, and not written by a kubelet', async (context) => {
  const root = mkdtempSync(join(tmpdir(), 'tubelet-devices-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const checkpoint = deviceCheckpoint(root);
  assert.equal(await checkpoint.read(), undefined);
  mkdirSync(join(root, 'device-plugins'));
  assert.equal(await checkpoint.read(), undefined);
  writeFileSync(checkpoint.path, '{}');
  assert.equal(await checkpoint.read(), '{}');
  truncateSync(checkpoint.path, (16 << 20) + 1);
  await assert.rejects(checkpoint.read(), { message: 'it is larger than 16777216 bytes' });
});
