import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../gen/kubernetes/types.ts';
import { goldenInputs, goldenSettings } from '../../testing/node-world.ts';
import { computeNodeStatus } from './compute-node-status.ts';
import { setImages } from './images.ts';
import { setDaemonEndpoints, setFeatures, setRuntimeHandlers, setVolumesInUse } from './plain-fields.ts';
import { conditionOf, setPressure } from './pressure-conditions.ts';
import { setReady } from './ready-condition.ts';
import type { NodeImage, NodeInputs } from './setter.ts';
import { setVersionInfo } from './version-info.ts';

const status = (node: Node) => node.status ?? {};
const reasons = (events: readonly { readonly reason: string }[] = []) => events.map(({ reason }) => reason);

describe('images', () => {
  const image = (id: string, sizeBytes: number, digests = 0, tags = 0): NodeImage => ({
    id,
    sizeBytes,
    digests: Array.from({ length: digests }, (_, index) => `${id}@${index}`),
    tags: Array.from({ length: tags }, (_, index) => `${id}:${index}`),
  });
  const run = (images: readonly NodeImage[], maxImages: number) =>
    status(setImages({}, { ...goldenInputs, images, settings: { ...goldenSettings, maxImages } }, 'now').node).images;

  test('largest first, equal ones by id', () => {
    const names = run([image('a', 1, 0, 1), image('b', 2, 0, 1), image('c', 1, 0, 1)], -1)?.map(({ names }) => names);
    assert.deepEqual(names, [['b:0'], ['c:0'], ['a:0']]);
  });

  test('five names at most, digests first; no names at all', () => {
    assert.deepEqual(run([image('a', 1, 2, 9), image('b', 0)], 50), [
      { names: ['a@0', 'a@1', 'a:0', 'a:1', 'a:2'], sizeBytes: 1 },
      { sizeBytes: 0 },
    ]);
  });

  test('no more than wanted', () => {
    const many = Array.from({ length: 60 }, (_, index) => image(`i${index}`, index));
    assert.deepEqual(
      [50, 0, -1].map((most) => run(many, most)?.length),
      [50, 0, 60],
    );
  });

  test('a list that could not be read leaves the old one', () => {
    const { images: _, ...unknown } = goldenInputs;
    const node = { status: { images: [{ names: ['a'], sizeBytes: 1 }] } };
    assert.deepEqual(setImages(node, unknown, 'now'), { node, problem: 'error getting image list' });
  });
});

describe('plain fields', () => {
  test('runtime handlers by name, the default first; empty without any', () => {
    const handler = (name: string) => ({ name, recursiveReadOnlyMounts: true, userNamespaces: false });
    const handlers = ['runc', '', 'kata'].map(handler);
    const { node } = setRuntimeHandlers({}, { ...goldenInputs, handlers }, 'now');
    assert.deepEqual(
      status(node).runtimeHandlers?.map(({ name }) => name),
      ['', 'kata', 'runc'],
    );
    assert.deepEqual(status(node).runtimeHandlers?.[0]?.features, {
      recursiveReadOnlyMounts: true,
      userNamespaces: false,
    });
    assert.deepEqual(setRuntimeHandlers(node, goldenInputs, 'now').node.status, {});
  });

  test('features, volumes and endpoints', () => {
    const features = { supplementalGroupsPolicy: true };
    assert.deepEqual(setFeatures({}, { ...goldenInputs, features }, 'now').node.status, { features });
    assert.deepEqual(setFeatures({}, goldenInputs, 'now').node, {});
    const volumesInUse = ['b', 'a'];
    assert.deepEqual(setVolumesInUse({}, { ...goldenInputs, volumesInUse }, 'now').node.status, {
      volumesInUse: ['a', 'b'],
    });
    assert.deepEqual(setVolumesInUse({}, goldenInputs, 'now').node, {});
    assert.equal(
      setDaemonEndpoints({}, goldenInputs, 'now').node.status?.daemonEndpoints?.kubeletEndpoint?.Port,
      10250,
    );
  });

  test('versions: an unknown one keeps its value', () => {
    const before = setVersionInfo({}, goldenInputs, 'now').node;
    const { identity: _, runtimeVersion: __, ...unknown } = goldenInputs;
    const after = setVersionInfo(before, unknown, 'now');
    assert.deepEqual(after.node, before);
    assert.equal(after.problem, 'error getting version info');
  });
});

describe('pressure', () => {
  const kinds = [
    ['memory', 'MemoryPressure', 'KubeletHasInsufficientMemory', 'NodeHasInsufficientMemory'],
    ['disk', 'DiskPressure', 'KubeletHasDiskPressure', 'NodeHasDiskPressure'],
    ['pid', 'PIDPressure', 'KubeletHasInsufficientPID', 'NodeHasInsufficientPID'],
  ] as const;
  for (const [kind, type, reason, event] of kinds) {
    test(type, () => {
      const pressed: NodeInputs = { ...goldenInputs, pressure: { ...goldenInputs.pressure, [kind]: true } };
      const first = setPressure(kind)({}, goldenInputs, 't1');
      assert.equal(conditionOf(first.node, type)?.status, 'False');
      const second = setPressure(kind)(first.node, pressed, 't2');
      const condition = conditionOf(second.node, type);
      assert.deepEqual([condition?.status, condition?.reason, condition?.lastTransitionTime], ['True', reason, 't2']);
      assert.deepEqual(reasons(second.events), [event]);
      const third = setPressure(kind)(second.node, pressed, 't3');
      assert.deepEqual(conditionOf(third.node, type), { ...condition, lastHeartbeatTime: 't3' });
      assert.equal(third.events, undefined);
    });
  }

  test('an unknown condition, as the control plane writes it for a silent node, is set right', () => {
    const node = {
      status: { conditions: [{ type: 'MemoryPressure', status: 'Unknown', reason: 'NodeStatusUnknown' }] },
    };
    const { events, node: after } = setPressure('memory')(node, goldenInputs, 'now');
    assert.equal(conditionOf(after, 'MemoryPressure')?.reason, 'KubeletHasSufficientMemory');
    assert.deepEqual(reasons(events), ['NodeHasSufficientMemory']);
  });
});

describe('ready', () => {
  const capacity = { cpu: '1', memory: '1', pods: '1', 'ephemeral-storage': '1' };
  const run = (inputs: Partial<NodeInputs>, node: Node = { status: { capacity } }) =>
    setReady(node, { ...goldenInputs, ...inputs }, 'now');
  const table: readonly (readonly [title: string, inputs: Partial<NodeInputs>, message: string])[] = [
    ['all well', {}, 'kubelet is posting ready status'],
    ['one problem', { notReady: ['container runtime is down'] }, 'container runtime is down'],
    ['several', { notReady: ['a', 'CSINode is not yet initialized'] }, '[a, CSINode is not yet initialized]'],
    ['the same twice', { notReady: ['a', 'a'] }, 'a'],
    [
      'something is missing',
      { softRequirement: 'CPU hardcapping unsupported' },
      'kubelet is posting ready status. WARNING: CPU hardcapping unsupported',
    ],
  ];
  for (const [title, inputs, message] of table) {
    test(title, () => {
      const condition = conditionOf(run(inputs).node, 'Ready');
      assert.equal(condition?.message, message);
      assert.equal(condition?.reason, (inputs.notReady?.length ?? 0) > 0 ? 'KubeletNotReady' : 'KubeletReady');
    });
  }

  test('a machine of unknown capacity', () => {
    const { node } = run({}, { status: { capacity: { cpu: '1' } } });
    const message = 'missing node capacity for resources: memory, pods, ephemeral-storage';
    assert.equal(conditionOf(node, 'Ready')?.message, message);
  });

  test('the transition time stays between transitions, and a transition has an event', () => {
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: 'then' }];
    const node = { status: { capacity, conditions } };
    assert.equal(conditionOf(run({}, node).node, 'Ready')?.lastTransitionTime, 'then');
    assert.deepEqual(reasons(run({}, node).events), []);
    const lost = run({ notReady: ['a'] }, node);
    assert.equal(conditionOf(lost.node, 'Ready')?.lastTransitionTime, 'now');
    assert.deepEqual(reasons(lost.events), ['NodeNotReady']);
  });
});

test('cordoned and let go again', () => {
  const cordoned = { spec: { unschedulable: true } };
  const run = (node: Node, wasUnschedulable: boolean) =>
    computeNodeStatus(node, { ...goldenInputs, wasUnschedulable }, 0).events.find(({ reason }) =>
      reason.endsWith('Schedulable'),
    )?.message;
  assert.equal(run(cordoned, false), 'Node vm status is now: NodeNotSchedulable');
  assert.equal(run({}, true), 'Node vm status is now: NodeSchedulable');
  assert.equal(run(cordoned, true), undefined);
  assert.equal(run({}, false), undefined);
});
