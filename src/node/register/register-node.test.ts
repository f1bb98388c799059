import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { Node } from '../../gen/kubernetes/types.ts';
import { goldenSettings, NodeWorld } from '../../testing/node-world.ts';
import { nodeDiff } from '../node-diff.ts';
import { computeInitialNode } from './compute-initial-node.ts';
import { reconcileExisting } from './reconcile-existing.ts';
import { RegisterNode } from './register-node.ts';

class RegistrationWorld extends NodeWorld {
  readonly registered: (Node | undefined)[] = [];

  registration(registerNode = true): RegisterNode {
    const { clock, random, log, api, events } = this;
    return new RegisterNode({
      clock,
      random,
      log,
      api,
      events,
      own: this.ownNode({ taints: [{ key: 'a', value: '', effect: 'NoSchedule' }] }),
      diff: nodeDiff,
      registerNode,
      resetExtendedResources: () => true,
      onRegistered: (node) => void this.registered.push(node),
      startup: { attempted: () => {}, registered: () => {} },
      watch: undefined,
    });
  }
}

describe('RegisterNode', () => {
  test('a new node is made at once, whole', async () => {
    const world = new RegistrationWorld();
    const registration = world.registration();
    await registration.start();
    await world.clock.settle();
    assert.deepEqual(world.taken(), ['create nodes']);
    assert.ok(registration.isRegistered());
    assert.equal(world.registered[0]?.metadata?.uid, 'uid-nodes');
    assert.deepEqual(world.node?.spec?.taints, [{ key: 'a', effect: 'NoSchedule' }]);
    assert.equal(world.condition('Ready'), 'True');
    assert.deepEqual(
      world.recorded.map(({ reason }) => reason),
      ['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID'],
    );
    await registration.stop();
  });

  for (const kind of ['alreadyExists', 'denied'] as const) {
    test(`${kind}: the existing one is read and corrected`, async () => {
      const world = new RegistrationWorld();
      const labels = { 'kubernetes.io/hostname': 'other', mine: 'kept' };
      world.node = {
        metadata: { name: 'vm', uid: 'u', labels },
        spec: { taints: [{ key: 'b', effect: 'NoExecute' }] },
      };
      if (kind === 'denied') {
        world.failure = (call) => (call === 'create nodes' ? new TubeletError('denied', 'forbidden') : undefined);
      }
      const registration = world.registration();
      await registration.start();
      await world.clock.settle();
      assert.deepEqual(world.taken(), ['create nodes', 'get nodes', 'patch status nodes']);
      assert.equal(world.node?.metadata?.labels?.['kubernetes.io/hostname'], 'vm');
      assert.equal(world.node?.metadata?.labels?.['mine'], 'kept');
      assert.deepEqual(world.node?.spec?.taints, [{ key: 'b', effect: 'NoExecute' }]);
      assert.equal(world.registered.length, 1);
      await registration.stop();
    });
  }

  test('one without differences is not written', async () => {
    const world = new RegistrationWorld();
    world.node = (await world.ownNode().initial()).node;
    const registration = world.registration();
    await registration.start();
    await world.clock.settle();
    assert.deepEqual(world.taken(), ['create nodes', 'get nodes']);
    await registration.stop();
  });

  test('an unavailable server is asked again for ever, at most about seven seconds apart', async () => {
    const world = new RegistrationWorld();
    world.failure = () => new TubeletError('unavailable', 'connection refused');
    const registration = world.registration();
    await registration.start();
    await world.clock.advance(500);
    assert.ok(world.taken().length >= 3);
    await world.clock.advance(600_000);
    world.taken();
    world.failure = () => undefined;
    await world.clock.advance(8_500);
    assert.ok(registration.isRegistered());
    assert.equal(world.recorded.length, 3, 'recorded once');
    await registration.stop();
    assert.equal(world.clock.pending(), 0);
  });

  test('another component makes the node: nothing is sent', async () => {
    const world = new RegistrationWorld();
    const registration = world.registration(false);
    await registration.start();
    await world.clock.advance(60_000);
    assert.deepEqual(world.calls, []);
    assert.deepEqual(world.registered, [undefined]);
    assert.ok(registration.isRegistered());
    await registration.stop();
  });
});

describe('computeInitialNode', () => {
  test('labels of the command line go over our own', () => {
    const labels = { 'kubernetes.io/hostname': 'x', 'node.kubernetes.io/role': 'y' };
    const node = computeInitialNode({ ...goldenSettings, labels });
    assert.equal(node.metadata?.labels?.['kubernetes.io/hostname'], 'x');
    assert.equal(node.metadata?.labels?.['node.kubernetes.io/role'], 'y');
    assert.equal(node.metadata?.labels?.['kubernetes.io/os'], 'linux');
  });

  test('provider, taints, annotations', () => {
    const taints = [{ key: 'k', value: 'v', effect: 'NoExecute' }];
    const node = computeInitialNode({
      ...goldenSettings,
      taints,
      externalCloudProvider: true,
      providerId: 'cloud://1',
      controllerAttachDetach: false,
    });
    const uninitialized = {
      key: 'node.cloudprovider.kubernetes.io/uninitialized',
      value: 'true',
      effect: 'NoSchedule',
    };
    assert.deepEqual(node.spec, { providerID: 'cloud://1', taints: [...taints, uninitialized] });
    assert.equal(node.metadata?.annotations, undefined);
    assert.deepEqual(computeInitialNode(goldenSettings).spec, {});
  });
});

describe('reconcileExisting', () => {
  const attach = 'volumes.kubernetes.io/controller-managed-attach-detach';
  const initial: Node = {
    metadata: { labels: { 'kubernetes.io/os': 'linux', 'example.com/new': 'x' }, annotations: { [attach]: 'true' } },
    status: { capacity: { 'hugepages-2Mi': '4Mi', cpu: '9' }, allocatable: { 'hugepages-2Mi': '4Mi', cpu: '8' } },
  };
  const run = (existing: Node, reset = false, from = initial): Node => reconcileExisting(from, existing, reset);

  test('the annotation of attaching is put on, changed or taken off', () => {
    assert.deepEqual(run({}).metadata?.annotations, { [attach]: 'true' });
    const without = { ...initial, metadata: {} };
    const existing = { metadata: { annotations: { [attach]: 'true', other: 'x' } } };
    assert.deepEqual(run(existing, false, without).metadata?.annotations, { other: 'x' });
  });

  test('only default labels are repaired', () => {
    const existing = { metadata: { labels: { 'kubernetes.io/os': 'plan9', kept: 'y' } } };
    assert.deepEqual(run(existing).metadata?.labels, { 'kubernetes.io/os': 'linux', kept: 'y' });
  });

  test('devices of a former life have amount 0 until they are announced again', () => {
    const status = { capacity: { cpu: '1', 'v.io/gpu': '4' }, allocatable: { cpu: '1', 'v.io/gpu': '4' } };
    const expected = { cpu: '1', 'v.io/gpu': '0', 'hugepages-2Mi': '4Mi' };
    assert.deepEqual(run({ status }, true).status?.capacity, expected);
    assert.equal(run({ status }, false).status?.allocatable?.['v.io/gpu'], '4');
  });

  test('huge pages are those of the machine', () => {
    const status = { capacity: { 'hugepages-1Gi': '1Gi', 'hugepages-2Mi': '4096Ki' }, allocatable: { cpu: '1' } };
    const after = run({ status }).status;
    assert.deepEqual(after?.capacity, { 'hugepages-2Mi': '4096Ki' });
    assert.deepEqual(after?.allocatable, { cpu: '1', 'hugepages-2Mi': '4Mi' });
  });

  test('a node without any amounts gets ours', () => {
    assert.deepEqual(run({}).status, initial.status);
  });
});
