import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configAnnotations, isMirrorPod, localAnnotations, seenTime, withConfigSource } from './annotations.ts';

test('the keys are the ones that other tools read', () => {
  assert.deepEqual(Object.values(configAnnotations), [
    'kubernetes.io/config.source',
    'kubernetes.io/config.seen',
    'kubernetes.io/config.hash',
    'kubernetes.io/config.mirror',
  ]);
  assert.ok(!localAnnotations.has(configAnnotations.hash));
});

test('seenTime drops digits that say nothing', () => {
  const base = Date.UTC(2025, 0, 2, 3, 4, 50);
  assert.equal(seenTime(base), '2025-01-02T03:04:50Z');
  assert.equal(seenTime(base + 120), '2025-01-02T03:04:50.12Z');
  assert.equal(seenTime(base + 7), '2025-01-02T03:04:50.007Z');
  assert.equal(seenTime(base + 500), '2025-01-02T03:04:50.5Z');
});

test('withConfigSource keeps other annotations and leaves its input alone', () => {
  const before = { name: 'web', annotations: { own: 'yes' } };
  assert.deepEqual(withConfigSource(before, 'api', 'now'), {
    name: 'web',
    annotations: { own: 'yes', 'kubernetes.io/config.source': 'api', 'kubernetes.io/config.seen': 'now' },
  });
  assert.deepEqual(before.annotations, { own: 'yes' });
  assert.ok(isMirrorPod({ annotations: { [configAnnotations.mirror]: '' } }));
  assert.ok(!isMirrorPod(before));
});
