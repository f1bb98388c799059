import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerHash } from './container-hash.ts';

test('known hashes, so that containers of another kubelet are recognised', () => {
  assert.equal(containerHash({ name: 'foo', image: 'bar' }), '11a6d6d6');
  assert.equal(containerHash({ name: 'test_container', image: 'foo/image:v1' }), '8e45cbd0');
  assert.equal(containerHash({ name: 'c', image: 'busybox:1.36' }), '142437a3');
});

test('only name and image count', () => {
  const container = { name: 'c', image: 'busybox:1.36', command: ['sh'] };
  assert.equal(containerHash(container), '142437a3');
  assert.notEqual(containerHash({ name: 'd', image: 'busybox:1.36' }), '142437a3');
});
