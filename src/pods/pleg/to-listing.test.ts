import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Container, ContainerState, PodSandbox, PodSandboxState } from '../../gen/cri/api.ts';
import { containerLabels, sandboxLabels } from '../../model/labels.ts';
import { toListing } from './to-listing.ts';

const web = { name: 'web', namespace: 'default', uid: 'uid-1' };
const db = { name: 'db', namespace: 'data', uid: 'uid-2' };

const sandbox = (
  id: string,
  labels: Record<string, string>,
  state = PodSandboxState.SANDBOX_READY as PodSandboxState,
) => PodSandbox.fromPartial({ id, labels, state });
const container = (id: string, labels: Record<string, string>, state: ContainerState) =>
  Container.fromPartial({ id, labels, state });

test('sandboxes and containers are sorted by pod', () => {
  const listing = toListing(
    [sandbox('s0', sandboxLabels(web)), sandbox('s1', sandboxLabels(db), PodSandboxState.SANDBOX_NOTREADY)],
    [
      container('c0', containerLabels(db, 'main'), ContainerState.CONTAINER_EXITED),
      container('c1', containerLabels(web, 'main'), ContainerState.CONTAINER_RUNNING),
      container('c2', containerLabels(web, 'side'), ContainerState.CONTAINER_CREATED),
    ],
  );
  assert.deepEqual(Object.fromEntries(listing), {
    'uid-1': {
      name: 'web',
      namespace: 'default',
      items: [
        { id: 's0', state: 'sandbox ready' },
        { id: 'c1', state: 'running' },
        { id: 'c2', state: 'created' },
      ],
    },
    'uid-2': {
      name: 'db',
      namespace: 'data',
      items: [
        { id: 's1', state: 'sandbox notReady' },
        { id: 'c0', state: 'exited' },
      ],
    },
  });
});

test('what no kubelet made is left out', () => {
  const foreign = { 'com.example/owner': 'other' };
  const listing = toListing([sandbox('s9', foreign)], [container('c9', foreign, ContainerState.CONTAINER_RUNNING)]);
  assert.equal(listing.size, 0);
});

test('a container whose sandbox was removed still belongs to its pod', () => {
  const listing = toListing([], [container('c0', containerLabels(web, 'main'), ContainerState.CONTAINER_UNKNOWN)]);
  assert.deepEqual(
    [...listing.values()],
    [{ name: 'web', namespace: 'default', items: [{ id: 'c0', state: 'unknown' }] }],
  );
});
