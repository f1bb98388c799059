import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../gen/kubernetes/types.ts';
import { goldenInputs, goldenSettings } from '../../testing/node-world.ts';
import type { NodeSettings } from '../settings.ts';
import { allocatableOf, setMachineInfo } from './machine-info.ts';
import type { NodeInputs, SetterOutcome } from './setter.ts';

function run(
  inputs: Partial<NodeInputs> = {},
  settings: Partial<NodeSettings> = {},
  node: Node = {},
): SetterOutcome & { readonly capacity: Record<string, string>; readonly allocatable: Record<string, string> } {
  const outcome = setMachineInfo(
    node,
    { ...goldenInputs, settings: { ...goldenSettings, ...settings }, ...inputs },
    'now',
  );
  const { capacity = {}, allocatable = {} } = outcome.node.status ?? {};
  return { ...outcome, capacity: { ...capacity }, allocatable: { ...allocatable } };
}

describe('pods', () => {
  const table: readonly (readonly [maxPods: number, podsPerCore: number, expected: string])[] = [
    [110, 0, '110'],
    [110, 10, '20'],
    [110, 100, '110'],
  ];
  for (const [maxPods, podsPerCore, expected] of table) {
    test(`at most ${maxPods}, ${podsPerCore} per core`, () => {
      const { capacity, allocatable } = run({}, { maxPods, podsPerCore });
      assert.deepEqual([capacity['pods'], allocatable['pods']], [expected, expected]);
    });
  }
});

describe('allocatable', () => {
  const capacity = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' };
  const table: readonly (readonly [
    title: string,
    given: Partial<NodeSettings> & { readonly capacity?: Readonly<Record<string, string>> },
    expected: Readonly<Record<string, string>>,
  ])[] = [
    ['nothing is kept', {}, capacity],
    [
      'both reserves',
      { reserved: { kube: { cpu: '100m', memory: '1Gi' }, system: { cpu: '1', 'ephemeral-storage': '10Gi' } } },
      { ...capacity, cpu: '2900m', memory: '7Gi', 'ephemeral-storage': '90Gi' },
    ],
    [
      'hard eviction of memory and of the node file system only',
      { evictionHard: { 'memory.available': '512Mi', 'nodefs.available': '10Gi', 'imagefs.available': '50Gi' } },
      { ...capacity, memory: '7680Mi', 'ephemeral-storage': '90Gi' },
    ],
    ['a percentage', { evictionHard: { 'memory.available': '50%' } }, { ...capacity, memory: '4Gi' }],
    [
      'signals that are turned off',
      { evictionHard: { 'memory.available': '0%', 'nodefs.available': '100%' } },
      capacity,
    ],
    ['more than there is', { reserved: { kube: { memory: '16Gi' }, system: {} } }, { ...capacity, memory: '0' }],
    [
      'huge pages are no plain memory',
      { capacity: { ...capacity, 'hugepages-2Mi': '1Gi', 'hugepages-1Gi': '0' } },
      { ...capacity, memory: '7Gi', 'hugepages-2Mi': '1Gi', 'hugepages-1Gi': '0' },
    ],
  ];
  for (const [title, { capacity: other, ...settings }, expected] of table) {
    test(title, () => {
      const all = { ...goldenSettings, evictionHard: {}, ...settings };
      assert.deepEqual(allocatableOf(other ?? capacity, {}, all), expected);
    });
  }
});

describe('capacity', () => {
  test('resources of plugins: capacity, healthy amounts, removed ones', () => {
    const devices = { capacity: { 'v.io/gpu': '4' }, allocatable: { 'v.io/gpu': '3' }, removed: ['v.io/old'] };
    const before = { status: { capacity: { 'v.io/old': '2' }, allocatable: { 'v.io/old': '2', 'v.io/lost': '1' } } };
    const { capacity, allocatable } = run({ devices }, {}, before);
    assert.deepEqual([capacity['v.io/gpu'], allocatable['v.io/gpu']], ['4', '3']);
    assert.deepEqual([capacity['v.io/old'], allocatable['v.io/old']], ['0', '0']);
    assert.equal(allocatable['v.io/lost'], undefined);
  });

  test('resources that other programs announce stay', () => {
    const before = { status: { capacity: { 'example.com/dongle': '4' } } };
    const { capacity, allocatable } = run({}, {}, before);
    assert.deepEqual([capacity['example.com/dongle'], allocatable['example.com/dongle']], ['4', '4']);
  });

  test('local storage is counted unless it is turned off', () => {
    assert.equal(run().capacity['ephemeral-storage'], '264212084Ki');
    assert.equal(run({}, { localStorageCapacityIsolation: false }).capacity['ephemeral-storage'], undefined);
    assert.equal(run().capacity['pid'], undefined);
  });

  test('the same amount in the spelling of the API server is not a change', () => {
    const capacity = { ...goldenInputs.capacity, 'ephemeral-storage': '267847642000' };
    const first = run({ capacity }, { evictionHard: {} });
    const known = { ...first.node, status: { ...first.node.status, capacity: { 'ephemeral-storage': '267847642k' } } };
    assert.equal(run({ capacity }, { evictionHard: {} }, known).capacity['ephemeral-storage'], '267847642k');
  });
});

describe('identity', () => {
  const rebooted: Node = {
    status: { nodeInfo: { ...run().node.status!.nodeInfo!, bootID: 'before', swap: { capacity: 7 } } },
  };

  test('a new boot id is reported once', () => {
    const { events, node } = run({}, {}, rebooted);
    assert.deepEqual(events, [
      { type: 'Warning', reason: 'Rebooted', message: 'Node vm has been rebooted, boot id: {{bootID}}' },
    ]);
    assert.deepEqual(run({}, {}, node).events, []);
    assert.deepEqual(run().events, []);
  });

  test('swap is reported where there is some', () => {
    assert.deepEqual(run({ swapBytes: 1024n }).node.status?.nodeInfo?.swap, { capacity: 1024 });
    assert.equal(run({}, {}, rebooted).node.status?.nodeInfo?.swap, undefined);
  });

  test('an unreadable machine keeps its identity', () => {
    const { identity: _, ...unknown } = goldenInputs;
    const outcome = setMachineInfo(rebooted, unknown, 'now');
    assert.equal(outcome.node.status?.nodeInfo?.bootID, 'before');
    assert.deepEqual(outcome.events, []);
  });
});
