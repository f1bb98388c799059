import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { CSINode, Node } from '../gen/kubernetes/types.ts';
import type { ObjectEvent } from '../model/object-event.ts';
import { goldenInputs, goldenSettings } from '../testing/node-world.ts';
import { newCsiNode, reconciledCsiNode } from './csinode/compute-csi-node.ts';
import { computeInitialNode } from './register/compute-initial-node.ts';
import { startEvents } from './start-events.ts';
import { computeNodeStatus } from './status/compute-node-status.ts';
import { isSameNode } from './status/same-node.ts';

/** Objects as a Go kubelet v1.34 made them, on the machine that `goldenInputs` describes. */
function golden<T>(name: string): T {
  return JSON.parse(readFileSync(`test/golden/node/${name}`, 'utf8'), (_, value: unknown) => value ?? undefined) as T;
}

const recorded = golden<Node>('node.json');
const recordedAt = Date.parse('2026-11-15T08:16:08Z');

/** What the API server and its controllers add, and when things happened. */
function withoutForeign(node: Node): Node {
  const { name, labels, annotations } = node.metadata ?? {};
  const { 'node.alpha.kubernetes.io/ttl': _, ...own } = annotations ?? {};
  const timeless = { lastHeartbeatTime: 'T', lastTransitionTime: 'T' };
  const conditions = node.status?.conditions?.map((condition) => ({ ...condition, ...timeless }));
  return {
    ...node,
    metadata: { name: name ?? '', labels: labels ?? {}, annotations: own },
    status: { ...node.status, ...(conditions && { conditions }) },
  };
}

test('the node from nothing is the recorded one, word for word', () => {
  const { node, problems } = computeNodeStatus(computeInitialNode(goldenSettings), goldenInputs, recordedAt);
  assert.deepEqual(problems, []);
  assert.deepEqual(withoutForeign(node), withoutForeign(recorded));
  assert.equal(node.status?.conditions?.[3]?.lastHeartbeatTime, '2026-11-15T08:16:08Z');
});

test('made from the recorded one it is equal, with new heartbeats only', () => {
  const { node, events } = computeNodeStatus(recorded, goldenInputs, recordedAt + 10_000);
  assert.deepEqual(events, []);
  assert.ok(isSameNode(recorded, node));
  const [ready] = node.status?.conditions?.slice(-1) ?? [];
  assert.equal(ready?.lastHeartbeatTime, '2026-11-15T08:16:18Z');
  assert.equal(ready?.lastTransitionTime, '2026-11-15T07:51:58Z');
  assert.deepEqual({ ...node, status: undefined }, { ...recorded, status: undefined });
});

test('events of a start, of a new node and of its first ready are the recorded ones', () => {
  const words = ({ type, reason, message }: ObjectEvent): string => `${type} ${reason} ${message}`;
  const known = new Set(golden<readonly ObjectEvent[]>('node-events.json').map(words));
  const initial = computeInitialNode(goldenSettings);
  const waiting = computeNodeStatus(initial, { ...goldenInputs, notReady: ['not yet'] }, recordedAt);
  const ready = computeNodeStatus(waiting.node, goldenInputs, recordedAt);
  const again = computeNodeStatus(ready.node, { ...goldenInputs, notReady: ['no more'] }, recordedAt);
  const start = startEvents({ cgroupVersion: 1, swapOn: false, tmpfsNoSwap: false, imageFsBytes: 0n });
  const events = [...start, ...waiting.events, ...ready.events, ...again.events];
  for (const event of events) assert.ok(known.has(words(event)), words(event));
  assert.deepEqual(
    events.map(({ reason }) => reason),
    [
      'Starting',
      'CgroupV1',
      'InvalidDiskCapacity',
      'NodeHasSufficientMemory',
      'NodeHasNoDiskPressure',
      'NodeHasSufficientPID',
      'NodeReady',
      'NodeNotReady',
    ],
  );
});

test('the CSINode is the recorded one, and needs no further change', () => {
  const csiNode = golden<CSINode>('csinode.json');
  const made = newCsiNode(recorded);
  const { name, annotations, ownerReferences } = csiNode.metadata ?? {};
  assert.deepEqual(made.metadata, { name, annotations, ownerReferences });
  assert.equal(reconciledCsiNode(csiNode), undefined);
  // Without drivers the API server writes null for the empty list that it was given.
  assert.deepEqual(made.spec, { drivers: [] });
});

test('a start on cgroup v2 with swap that no file system can be kept out of', () => {
  const reasons = startEvents({ cgroupVersion: 2, swapOn: true, tmpfsNoSwap: false }).map(({ reason }) => reason);
  assert.deepEqual(reasons, ['Starting', 'PossibleMemoryBackedVolumesOnDisk']);
});
