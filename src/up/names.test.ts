import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instanceNames } from './names.ts';

test('names follow from the root, differ between roots and fit where they go', () => {
  const names = instanceNames('/var/lib/tubelet');
  assert.deepEqual(names, instanceNames('/var/lib/tubelet'));
  const other = instanceNames('/var/lib/tubelet2');
  for (const key of ['id', 'bridge', 'network', 'cgroupRoot', 'runDir', 'upLog'] as const) {
    assert.notEqual(names[key], other[key], key);
  }
  const deep = instanceNames(`/${'deep/'.repeat(60)}`);
  // The longest name the kernel takes for an interface, and for a socket with the suffix containerd adds.
  assert.ok(deep.bridge.length <= 15);
  assert.ok(`${deep.socket}.ttrpc`.length <= 107);
});
