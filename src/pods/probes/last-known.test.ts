import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerId } from '../../base/ids.ts';
import type { ContainerStatus, PodStatus } from '../../gen/kubernetes/types.ts';
import { lastKnownIn } from './last-known.ts';

const one = (name: string, more: Partial<ContainerStatus>): ContainerStatus => ({
  name,
  image: '',
  imageID: '',
  ready: false,
  restartCount: 0,
  ...more,
});

const status: PodStatus = {
  containerStatuses: [one('web', { containerID: 'containerd://abc', ready: true, started: true }), one('new', {})],
  initContainerStatuses: [one('side', { containerID: 'cri-o://def', started: true })],
};

test('the status of the same instance is known, of a sidecar too', () => {
  assert.deepEqual(lastKnownIn(status, 'web', containerId('abc')), { ready: true, started: true });
  assert.deepEqual(lastKnownIn(status, 'side', containerId('def')), { ready: false, started: true });
});

test('nothing is known of another instance, another container or without a status', () => {
  assert.equal(lastKnownIn(status, 'web', containerId('bc')), undefined);
  assert.equal(lastKnownIn(status, 'web', containerId('def')), undefined);
  assert.equal(lastKnownIn(status, 'new', containerId('abc')), undefined);
  assert.equal(lastKnownIn(undefined, 'web', containerId('abc')), undefined);
});
