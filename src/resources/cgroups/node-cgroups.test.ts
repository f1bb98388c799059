import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryCgroupTree } from '../../testing/memory-cgroup-tree.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { CgroupWriter } from './cgroup-writer.ts';
import { CgroupfsManager } from './cgroupfs-manager.ts';
import type { NodeCgroupSettings } from './node-cgroup-values.ts';
import { NodeCgroups } from './node-cgroups.ts';

const everything = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb'];

function setUp(more: Partial<NodeCgroupSettings> = {}, available = everything, version: 1 | 2 = 1) {
  const tree = new MemoryCgroupTree();
  const log = new MemoryLog();
  const events: string[] = [];
  const controllers = new Set(available);
  const manager = new CgroupfsManager({ tree, writer: new CgroupWriter({ log, tree, version, controllers }) });
  const node = new NodeCgroups({
    log,
    manager,
    version,
    controllers,
    events: { record: ({ type, reason, message }) => void events.push(`${type} ${reason}: ${message}`) },
    settings: {
      cgroupRoot: '/',
      cgroupDriver: 'cgroupfs',
      capacity: { cpu: '2', memory: '4096', pid: '100' },
      reserved: { kube: { cpu: '1', memory: '1024' }, system: {} },
      evictionHard: {},
      enforced: ['pods'],
      systemReservedCgroup: '/system',
      kubeReservedCgroup: '/kube',
      memoryQos: false,
      hugePageSizes: [],
      cpus: '',
      ...more,
    },
  });
  return { tree, log, events, node };
}

describe('what a machine must have', () => {
  test('the controllers of version 1', () => {
    assert.throws(
      () => setUp({}, ['cpu', 'memory', 'pids']).node.check(),
      /system validation failed - Following Cgroup subsystem not mounted: \[cpuacct cpuset\]; mount.*cgroupsPerQOS: false/,
    );
    setUp().node.check();
  });

  test('none of version 2: its root may lack any, and only those limits are missing', async () => {
    const { node, tree } = setUp({}, ['cpu', 'io', 'memory', 'pids'], 2);
    node.check();
    await node.make();
    await node.enforce();
    assert.equal(tree.values('/kubepods'), 'cpu.weight=39 memory.max=3072 pids.max=100');
  });

  test('the cgroup root that is configured', () => {
    const { node, tree } = setUp({ cgroupRoot: '/mine/' });
    assert.throws(
      () => node.check(),
      /invalid configuration: cgroup \["mine"\] has some missing paths: \/mine; make this cgroupRoot/,
    );
    tree.make('/mine');
    node.check();
  });

  test('no less than is reserved', () => {
    const { node } = setUp({ reserved: { kube: { memory: '4097' }, system: {} } });
    assert.throws(() => node.check(), /invalid Node Allocatable configuration.*"memory".*4097.*4096/);
  });
});

describe('all pods together', () => {
  test('get their limits, and an event says so, once', async () => {
    const { node, tree, events } = setUp();
    await node.make();
    await node.enforce();
    await node.enforce();
    assert.equal(tree.values('/kubepods'), 'cpu.shares=1024 memory.limit_in_bytes=3072 pids.max=100');
    assert.deepEqual(events, ['Normal NodeAllocatableEnforced: Updated Node Allocatable limit across pods']);
  });

  test('live below the configured root', async () => {
    const { node, tree } = setUp({ cgroupRoot: '/a/b' });
    await node.make();
    assert.ok(tree.groups.has('/a/b/kubepods'));
  });

  test('that use too much now are limited later', async () => {
    const { node, tree, events } = setUp();
    await node.make();
    tree.refuse = (_, { controller }) => (controller === 'memory' ? 'too much in use' : undefined);
    await node.enforce();
    tree.refuse = () => undefined;
    await node.enforce();
    assert.deepEqual(events, [
      'Warning FailedNodeAllocatableEnforcement: Failed to update Node Allocatable Limits ["kubepods"]: too much in use',
      'Normal NodeAllocatableEnforced: Updated Node Allocatable limit across pods',
    ]);
  });

  test('a machine on which no cgroup can be made is reported', async () => {
    const { node, tree } = setUp();
    tree.make = () => {
      throw new Error('read-only file system');
    };
    await assert.rejects(node.make(), /cannot make the cgroup of all pods; run as root.*cgroupsPerQOS: false/);
  });

  test('a limit that the kernel cannot keep is reported once; the others hold', async () => {
    const { node, tree, log } = setUp({}, ['cpu', 'cpuacct', 'cpuset', 'memory']);
    await node.make();
    await node.enforce();
    assert.equal(tree.values('/kubepods'), 'cpu.shares=1024 memory.limit_in_bytes=3072');
    assert.equal(log.messages('warn').length, 1);
  });
});

describe('reserves of others', () => {
  const enforced = ['kube-reserved'];

  test('are set on the cgroup that is there', async () => {
    const { node, tree, events } = setUp({ enforced });
    tree.make('/kube');
    await node.enforceReserved();
    assert.equal(tree.values('/kube'), 'cpu.shares=1024 memory.limit_in_bytes=1024');
    assert.deepEqual(events, ['Normal NodeAllocatableEnforced: Updated limits on kube reserved cgroup /kube']);
  });

  test('or only of compressible resources, which failures say', async () => {
    const { node, tree, events } = setUp({ enforced: ['kube-reserved-compressible'] });
    await assert.rejects(
      node.enforceReserved(),
      /Failed to enforce Kube Reserved Compressible Cgroup Limits on "\/kube"/,
    );
    tree.make('/kube');
    await node.enforceReserved();
    assert.equal(tree.values('/kube'), 'cpu.shares=1024');
    assert.equal(events.at(-1), 'Normal NodeAllocatableEnforced: Updated limits on kube reserved cgroup /kube');
  });

  test('fail where nothing is reserved', async () => {
    const { node, tree, events } = setUp({ enforced: ['system-reserved'] });
    tree.make('/system');
    await assert.rejects(node.enforceReserved(), /Failed to enforce System Reserved Cgroup Limits on "\/system"/);
    assert.match(events.join(), /: \["system"\] cgroup is not configured properly/);
  });

  test('fail when it is not there: the agent makes no cgroup for other processes', async () => {
    const { node, tree, events } = setUp({ enforced });
    await assert.rejects(node.enforceReserved(), /Failed to enforce Kube Reserved Cgroup Limits on "\/kube"/);
    assert.ok(!tree.groups.has('/kube'));
    assert.match(
      events.join(),
      /^Warning FailedNodeAllocatableEnforcement: .*: cgroup \["kube"\] has some missing paths: \/kube; make it first/,
    );
  });
});
