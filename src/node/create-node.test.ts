import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Component } from '../base/component.ts';
import type { Node } from '../gen/kubernetes/types.ts';
import type { MirrorChange } from '../model/api-client.ts';
import { goldenSettings, NodeWorld } from '../testing/node-world.ts';
import { createNode } from './create-node.ts';
import { createNodeView, type NodeViews } from './create-node-view.ts';
import { createNodeSignals } from './node-signals.ts';
import type { NodeCluster } from './ports.ts';
import { commonPorts } from '../testing/common-ports.ts';

const never = new AbortController().signal;
const gpus = { 'example.com/gpu': '0' };
const formerDevices = { devices: { capacity: gpus, allocatable: gpus, removed: [] }, resetAll: false };
const kernel = { architecture: 'amd64', kernelVersion: '6.18.0', hasAppArmor: false };

/** A node of a cluster, or alone, on a runtime whose conditions can be set. */
class RootWorld extends NodeWorld {
  readonly signals = createNodeSignals();
  readonly podCidrs: (string | undefined)[] = [];
  readonly listeners: ((change: MirrorChange<Node>) => void)[] = [];
  networkReady = true;
  unhealthy: string | undefined;
  readonly #started: Component[] = [];

  async start(hasCluster: boolean): Promise<NodeViews> {
    const ports = commonPorts({ clock: this.clock, random: this.random, log: this.log });
    const cluster: NodeCluster | undefined = hasCluster
      ? {
          api: { ...this.api, reset: () => void this.resets++ },
          mirror: { get: this.mirror.get, listen: (listener) => void this.listeners.push(listener) },
          watch: { queue: () => ({ added: () => {}, began: () => () => {}, retried: () => {} }) },
        }
      : undefined;
    const views = createNodeView({
      ports,
      settings: { nodeName: 'vm', allowedUnsafeSysctls: ['kernel.msg*'], featureGates: () => true },
      signals: this.signals,
      runtime: { status: async () => this.#runtimeStatus() },
      kernel,
      host: { outwardAddresses: () => ['10.0.0.9'] },
      formerDevices,
      cluster,
    });
    const node = createNode({
      ports,
      settings: {
        ...goldenSettings,
        statusUpdateMs: 10_000,
        statusReportMs: 300_000,
        leaseDurationSeconds: 40,
        registerNode: true,
        podCidr: '10.1.0.0/24',
        announcesHandlers: true,
      },
      signals: this.signals,
      views,
      host: this.sources.host,
      runtime: {
        ...this.sources.runtime,
        updateRuntimeConfig: async ({ runtimeConfig }) => {
          this.podCidrs.push(runtimeConfig?.networkConfig?.podCidr);
          return {};
        },
      },
      events: this.events,
      startFacts: { cgroupVersion: 2, swapOn: false, tmpfsNoSwap: true },
      resolver: { path: '', clusterDomain: '', read: async () => ({ servers: [], searches: [], options: [] }) },
      programStart: { upSeconds: 40, startedAt: 0 },
      pleg: { unhealthy: () => this.unhealthy },
      volumes: { volumesInUse: () => ['kubernetes.io/csi/d^v'] },
      formerDevices,
      cluster,
    });
    for (const component of [...views.early, ...node.early, ...views.late, ...node.late]) {
      await component.start(never);
      this.#started.push(component);
    }
    await this.clock.settle();
    return views;
  }

  async stop(): Promise<void> {
    for (const component of this.#started.toReversed()) await component.stop();
    assert.equal(this.clock.pending(), 0);
  }

  #runtimeStatus() {
    const condition = (type: string, status: boolean) => ({ type, status, reason: 'R', message: 'not set up' });
    return {
      status: { conditions: [condition('RuntimeReady', true), condition('NetworkReady', this.networkReady)] },
      info: {},
      runtimeHandlers: [],
      features: { supplementalGroupsPolicy: true },
    };
  }
}

describe('the node of a cluster', () => {
  test('is registered, has its record of drivers and its lease, and is ready', async () => {
    const world = new RootWorld();
    const views = await world.start(true);
    assert.equal(world.recorded[0]?.reason, 'Starting');
    assert.ok(world.taken().includes('create nodes'));
    assert.equal(world.csiNode?.metadata?.ownerReferences?.[0]?.uid, 'uid-nodes');
    assert.equal(views.storage.problem(), undefined);
    assert.equal(world.condition('Ready'), 'True');
    assert.deepEqual(world.node?.status?.volumesInUse, ['kubernetes.io/csi/d^v']);
    assert.equal(world.node.status.features?.supplementalGroupsPolicy, true);
    assert.equal(views.view.node(), world.node);
    await world.stop();
  });

  test('a due status is written at once; before the first one the due mark is kept', async () => {
    const world = new RootWorld();
    world.signals.statusDue.mark();
    await world.start(true);
    await world.clock.advance(11_000);
    world.taken();
    world.unhealthy = 'pleg was last seen active 4m0s ago; threshold is 3m0s';
    world.signals.statusDue.mark();
    await world.clock.settle();
    assert.ok(world.taken().includes('patch status nodes'));
    assert.equal(world.condition('Ready'), 'False');
    await world.stop();
  });

  test('a runtime that loses its network makes the node unready without a mark of others', async () => {
    const world = new RootWorld();
    await world.start(true);
    await world.clock.advance(11_000);
    world.networkReady = false;
    await world.clock.advance(5_000);
    assert.equal(world.condition('Ready'), 'False');
    await world.stop();
  });

  test('a change that the mirror brings may be one of addresses, or of those that pods get', async () => {
    const world = new RootWorld();
    let changes = 0;
    world.signals.addressesChanged.listen(() => void changes++);
    await world.start(true);
    const object: Node = { ...world.node, spec: { podCIDRs: ['10.2.0.0/24'] } };
    world.node = object;
    for (const listener of world.listeners) listener({ type: 'put', object, previous: undefined });
    await world.clock.settle();
    assert.equal(changes, 1);
    assert.deepEqual(world.podCidrs, ['10.2.0.0/24']);
    await world.stop();
  });
});

test('a node alone is written nowhere, and pods and their admission know it all the same', async () => {
  const world = new RootWorld();
  const views = await world.start(false);
  world.signals.statusDue.mark();
  await world.clock.settle();
  assert.deepEqual(world.calls, []);
  assert.deepEqual(world.podCidrs, ['10.1.0.0/24']);
  assert.equal(views.driverRecord, undefined);
  assert.equal(views.storage.problem(), undefined);
  assert.deepEqual(views.view.hostIps(), ['192.0.2.2']);
  const { allocatable, labels, ...rest } = views.admissionNode();
  assert.deepEqual([allocatable['pods'], allocatable['example.com/gpu']], ['250', '0']);
  assert.equal(labels['kubernetes.io/hostname'], 'vm');
  assert.deepEqual(
    { ...rest, featureGates: rest.featureGates('Any') },
    {
      name: 'vm',
      taints: [],
      os: 'linux',
      arch: 'amd64',
      kernelVersion: '6.18.0',
      pressure: [],
      shuttingDown: false,
      appArmor: { enabled: false, reason: 'AppArmor is not enabled on the host' },
      allowedUnsafeSysctls: ['kernel.msg*'],
      supplementalGroupsPolicySupported: true,
      featureGates: true,
    },
  );
  await world.stop();
});
