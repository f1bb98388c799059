import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Registry } from '../../telemetry/registry.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryCgroupTree } from '../../testing/memory-cgroup-tree.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { CgroupWriter } from './cgroup-writer.ts';
import type { NodeCgroupSettings } from './node-cgroup-values.ts';
import { NodeCgroups } from './node-cgroups.ts';

const everything = ['cpu', 'cpuacct', 'cpuset', 'memory', 'pids', 'hugetlb'];

function setUp(more: Partial<NodeCgroupSettings> = {}, available = everything, version: 1 | 2 = 1) {
  const tree = new MemoryCgroupTree();
  const log = new MemoryLog();
  const events: string[] = [];
  const controllers = new Set(available);
  const writer = new CgroupWriter({ metrics: new Registry(), clock: new FakeClock(), log, tree, version, controllers });
  const node = new NodeCgroups({
    log,
    writer,
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

  test('none of version 2: its root may lack any, and only those limits are missing', () => {
    const { node, tree } = setUp({}, ['cpu', 'io', 'memory', 'pids'], 2);
    node.check();
    node.make();
    node.enforce();
    assert.equal(tree.values('/kubepods'), 'cpu.weight=39 memory.max=3072 pids.max=100');
  });

  test('the cgroup root that is configured', () => {
    const { node, tree } = setUp({ cgroupRoot: '/mine/' });
    assert.throws(() => node.check(), /cgroupRoot \/mine is not there/);
    tree.make('/mine');
    node.check();
  });

  test('no less than is reserved', () => {
    const { node } = setUp({ reserved: { kube: { memory: '4097' }, system: {} } });
    assert.throws(() => node.check(), /invalid Node Allocatable configuration.*"memory".*4097.*4096/);
  });
});

describe('all pods together', () => {
  test('get their limits, and an event says so, once', () => {
    const { node, tree, events } = setUp();
    node.make();
    node.enforce();
    node.enforce();
    assert.equal(tree.values('/kubepods'), 'cpu.shares=1024 memory.limit_in_bytes=3072 pids.max=100');
    assert.deepEqual(events, ['Normal NodeAllocatableEnforced: Updated Node Allocatable limit across pods']);
  });

  test('live below the configured root', () => {
    const { node, tree } = setUp({ cgroupRoot: '/a/b' });
    node.make();
    assert.ok(tree.groups.has('/a/b/kubepods'));
  });

  test('that use too much now are limited later', () => {
    const { node, tree, events } = setUp();
    node.make();
    tree.refuse = (_, { controller }) => (controller === 'memory' ? 'too much in use' : undefined);
    node.enforce();
    tree.refuse = () => undefined;
    node.enforce();
    assert.deepEqual(events, [
      'Warning FailedNodeAllocatableEnforcement: Failed to update Node Allocatable Limits ["kubepods"]: too much in use',
      'Normal NodeAllocatableEnforced: Updated Node Allocatable limit across pods',
    ]);
  });

  test('a machine on which no cgroup can be made is reported', () => {
    const { node, tree } = setUp();
    tree.make = () => {
      throw new Error('read-only file system');
    };
    assert.throws(() => node.make(), /cannot make the cgroup of all pods; run as root.*cgroupsPerQOS: false/);
  });

  test('a limit that the kernel cannot keep is reported once; the others hold', () => {
    const { node, tree, log } = setUp({}, ['cpu', 'cpuacct', 'cpuset', 'memory']);
    node.make();
    node.enforce();
    assert.equal(tree.values('/kubepods'), 'cpu.shares=1024 memory.limit_in_bytes=3072');
    assert.equal(log.messages('warn').length, 1);
  });
});

describe('reserves of others', () => {
  const enforced = ['kube-reserved'];

  test('are set on the cgroup that is there', () => {
    const { node, tree, events } = setUp({ enforced });
    tree.make('/kube');
    node.enforceReserved();
    assert.equal(tree.values('/kube'), 'cpu.shares=1024 memory.limit_in_bytes=1024');
    assert.deepEqual(events, ['Normal NodeAllocatableEnforced: Updated limits on kube reserved cgroup /kube']);
  });

  test('or only of compressible resources, which failures say', () => {
    const { node, tree, events } = setUp({ enforced: ['kube-reserved-compressible'] });
    assert.throws(
      () => node.enforceReserved(),
      /Failed to enforce Kube Reserved Compressible Cgroup Limits on "\/kube"/,
    );
    tree.make('/kube');
    node.enforceReserved();
    assert.equal(tree.values('/kube'), 'cpu.shares=1024');
    assert.equal(events.at(-1), 'Normal NodeAllocatableEnforced: Updated limits on kube reserved cgroup /kube');
  });

  test('fail where nothing is reserved', () => {
    const { node, tree, events } = setUp({ enforced: ['system-reserved'] });
    tree.make('/system');
    assert.throws(() => node.enforceReserved(), /Failed to enforce System Reserved Cgroup Limits on "\/system"/);
    assert.match(events.join(), /: \["system"\] cgroup is not configured properly/);
  });

  test('fail when it is not there: the agent makes no cgroup for other processes', () => {
    const { node, tree, events } = setUp({ enforced });
    assert.throws(() => node.enforceReserved(), /Failed to enforce Kube Reserved Cgroup Limits on "\/kube"/);
    assert.ok(!tree.groups.has('/kube'));
    assert.match(events.join(), /^Warning FailedNodeAllocatableEnforcement: .*\/kube is not there/);
  });
});
