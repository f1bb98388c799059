import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkpointedResources } from './device-checkpoint.ts';

const registered = (devices: unknown): string => JSON.stringify({ Data: { RegisteredDevices: devices }, Checksum: 1 });

test('the resources of device plugins are the keys of the registered devices', () => {
  const text = registered({ 'example.com/dev0': ['GPU-01'], 'nvidia.com/gpu': [] });
  assert.deepEqual(checkpointedResources(text), ['example.com/dev0', 'nvidia.com/gpu']);
});

test('no devices give no resources', () => {
  for (const devices of [null, undefined, {}]) assert.deepEqual(checkpointedResources(registered(devices)), []);
});

test('names that are not of vendor resources are ignored', () => {
  assert.deepEqual(
    checkpointedResources(registered({ cpu: [], 'kubernetes.io/x': [], [`a/${'b'.repeat(400)}`]: [] })),
    [],
  );
});

test('anything but a checkpoint is refused', () => {
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`example.com/${index}`, []]));
  for (const text of [
    '',
    'x',
    '{}',
    '{"Data":null}',
    '{"Data":"x"}',
    registered([]),
    registered('x'),
    registered(many),
  ]) {
    assert.throws(() => checkpointedResources(text), Error, text.slice(0, 60));
  }
});
