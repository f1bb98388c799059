import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container } from '../gen/kubernetes/types.ts';
import { goldenNode, goldenSettings } from '../testing/golden.ts';
import { desiredPod } from './desired-pod.ts';
import { containerResources, overheadResources, sandboxResources, type PinnedResources } from './linux-resources.ts';
import type { NodeFacts, RuntimeSettings } from './runtime-settings.ts';

const gib = 1024n ** 3n;
const node: NodeFacts = { ...goldenNode(), memoryCapacityBytes: 8n * gib, swapCapacityBytes: 4n * gib };
const unified: RuntimeSettings = { ...goldenSettings, cgroupVersion: 2, singleProcessOomKill: false };

function resources(container: Partial<Container>, settings: RuntimeSettings, pinned?: PinnedResources) {
  const full: Container = { name: 'c', ...container };
  const pod = desiredPod('api', {
    metadata: { uid: 'u', name: 'p', namespace: 'n' },
    spec: { containers: [full] },
  });
  return containerResources(pod, full, node, settings, pinned);
}

const limited = { resources: { requests: { memory: '1Gi', cpu: '1' }, limits: { memory: '2Gi', cpu: '2' } } };

test('quota follows the configuration', () => {
  assert.equal(resources(limited, goldenSettings).cpuQuota, 200_000n);
  const off = resources(limited, { ...goldenSettings, cpuCfsQuota: false });
  assert.deepEqual([off.cpuQuota, off.cpuPeriod], [0n, 0n]);
  assert.equal(resources(limited, goldenSettings, { withoutCpuQuota: true, cpusetCpus: '2-3' }).cpuQuota, -1n);
  const short = { ...goldenSettings, cpuCfsQuotaPeriodMs: 10 };
  assert.equal(resources(limited, short).cpuPeriod, 100_000n);
  const custom = resources(limited, { ...short, featureGates: (name) => name === 'CustomCPUCFSQuotaPeriod' });
  assert.deepEqual([custom.cpuPeriod, custom.cpuQuota], [10_000n, 20_000n]);
});

test('on cgroup v2 a container dies as a whole, and does not swap', () => {
  assert.deepEqual(resources(limited, unified).unified, { 'memory.oom.group': '1', 'memory.swap.max': '0' });
  assert.deepEqual(resources(limited, { ...unified, singleProcessOomKill: true }).unified, { 'memory.swap.max': '0' });
  assert.equal(resources(limited, unified).memorySwapLimitInBytes, 0n);
  assert.deepEqual(resources(limited, { ...unified, swapControllerAvailable: false }).unified, {
    'memory.oom.group': '1',
  });
});

test('limited swap is in proportion to the request, for burstable containers that leave room', () => {
  const settings: RuntimeSettings = { ...unified, memorySwapBehavior: 'LimitedSwap' };
  const swap = (container: Partial<Container>) => resources(container, settings).unified['memory.swap.max'];
  assert.equal(swap(limited), String(gib / 2n));
  assert.equal(swap({}), '0');
  assert.equal(swap({ resources: { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } } }), '0');
  assert.equal(swap({ resources: { requests: { cpu: '1' } } }), '0');
});

test('limited swap of a container that asks for more memory than there is', () => {
  const settings: RuntimeSettings = { ...unified, memorySwapBehavior: 'LimitedSwap' };
  const { unified: keys } = resources({ resources: { requests: { memory: '9Gi' } } }, settings);
  assert.equal(keys['memory.swap.max'], '0');
});

test('limited swap is rounded the way floating point does it', () => {
  const settings: RuntimeSettings = { ...unified, memorySwapBehavior: 'LimitedSwap' };
  const odd: NodeFacts = { ...node, memoryCapacityBytes: 100n, swapCapacityBytes: 100n };
  const container: Container = { name: 'c', resources: { requests: { memory: '29' } } };
  const pod = desiredPod('api', {
    metadata: { uid: 'u', name: 'p', namespace: 'n' },
    spec: { containers: [container] },
  });
  // 29 / 100 * 100 is a little less than 29.
  assert.equal(containerResources(pod, container, odd, settings).unified['memory.swap.max'], '28');
});

test('memory protection is computed from the own limit of a container', () => {
  const settings: RuntimeSettings = { ...unified, featureGates: (name) => name === 'MemoryQoS' };
  const container: Container = { name: 'c', resources: { requests: { memory: '1Gi' } } };
  const spec = { containers: [container], resources: { limits: { memory: '1Gi' } } };
  const pod = desiredPod('api', { metadata: { uid: 'u', name: 'p', namespace: 'n' }, spec });
  const roomy: NodeFacts = { ...node, allocatable: { memory: '8Gi' } };
  assert.equal(
    containerResources(pod, container, roomy, settings).unified['memory.high'],
    String(((gib + BigInt(Math.floor(Number(7n * gib) * 0.9))) / 4096n) * 4096n),
  );
});

test('memory protection comes with its gate', () => {
  const settings: RuntimeSettings = { ...unified, featureGates: (name) => name === 'MemoryQoS' };
  const { unified: keys } = resources(limited, settings);
  assert.equal(keys['memory.min'], String(gib));
  const high = BigInt(keys['memory.high'] ?? '0');
  assert.equal(high % 4096n, 0n);
  assert.equal(high, ((gib + BigInt(Math.floor(Number(gib) * 0.9))) / 4096n) * 4096n);
});

test('huge pages: every size of the node is limited', () => {
  const { hugepageLimits } = resources({ resources: { limits: { 'hugepages-2Mi': '6Mi' } } }, goldenSettings);
  assert.deepEqual(hugepageLimits, [
    { pageSize: '2MB', limit: 6n * 1024n ** 2n },
    { pageSize: '1GB', limit: 0n },
  ]);
});

test('huge pages of the whole pod are there for each container without a limit of its own', () => {
  const own: Container = { name: 'own', resources: { limits: { 'hugepages-2Mi': '2Mi' } } };
  const other: Container = { name: 'other' };
  const spec = { containers: [own, other], resources: { limits: { 'hugepages-2Mi': '6Mi' } } };
  const pod = desiredPod('api', { metadata: { uid: 'u', name: 'p', namespace: 'n' }, spec });
  const limit = (container: Container) =>
    containerResources(pod, container, node, goldenSettings).hugepageLimits.map(({ limit: bytes }) => bytes);
  assert.deepEqual(limit(own), [2n << 20n, 0n]);
  assert.deepEqual(limit(other), [6n << 20n, 0n]);
});

test('sandbox: the whole pod, and what the sandbox itself costs', () => {
  const spec = { containers: [{ name: 'c', ...limited }], overhead: { cpu: '250m', memory: '64Mi' } };
  const whole = sandboxResources(spec, goldenSettings);
  assert.deepEqual([whole.cpuShares, whole.cpuQuota, whole.memoryLimitInBytes], [1024n, 200_000n, 2n * gib]);
  const overhead = overheadResources(spec, goldenSettings);
  assert.deepEqual([overhead.cpuShares, overhead.cpuQuota, overhead.memoryLimitInBytes], [256n, 25_000n, 67_108_864n]);
});
