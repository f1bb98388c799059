import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '../../testing/pods.ts';
import { podDemand, qosCgroupValues, type PodDemand, type QosSettings } from './qos-cgroup-values.ts';

const settings: QosSettings = { hugePageSizes: [], memoryQos: false, allocatableMemoryBytes: 1_000n };
const demands: readonly PodDemand[] = [
  { qos: 'Burstable', milliCpu: 250n, memoryBytes: 100n },
  { qos: 'Burstable', milliCpu: 750n, memoryBytes: 200n },
  { qos: 'Guaranteed', milliCpu: 4_000n, memoryBytes: 400n },
  { qos: 'BestEffort', milliCpu: 0n, memoryBytes: 0n },
];

test('the burstable tier weighs its pods’ requests, the other the minimum', () => {
  const values = qosCgroupValues(demands, settings);
  assert.equal(values.Burstable.cpuShares, 1_024n);
  assert.equal(values.BestEffort.cpuShares, 2n);
  assert.deepEqual(values.Guaranteed, {});
});

test('without pods both have the minimum', () => {
  assert.equal(qosCgroupValues([], settings).Burstable.cpuShares, 2n);
});

test('no tier limits huge pages', () => {
  const values = qosCgroupValues([], { ...settings, hugePageSizes: ['2MB'] });
  for (const tier of [values.Burstable, values.BestEffort]) assert.equal(tier.hugePages?.get('2MB'), 1n << 62n);
});

test('memory is kept from lower tiers as far as it is reserved', () => {
  const limits = (reservedMemoryPercent: bigint): unknown => {
    const values = qosCgroupValues(demands, { ...settings, reservedMemoryPercent });
    return [values.Guaranteed.memoryBytes, values.Burstable.memoryBytes, values.BestEffort.memoryBytes];
  };
  assert.deepEqual(limits(100n), [undefined, 600n, 300n]);
  assert.deepEqual(limits(50n), [undefined, 800n, 650n]);
  assert.deepEqual(limits(0n), [undefined, 1_000n, 1_000n]);
  assert.equal(qosCgroupValues(demands, settings).Burstable.memoryBytes, undefined);
});

test('with memory QoS the tiers protect their pods’ requests', () => {
  const values = qosCgroupValues(demands, { ...settings, memoryQos: true });
  assert.deepEqual(values.Guaranteed.unified, { 'memory.min': '700' });
  assert.deepEqual(values.Burstable.unified, { 'memory.min': '300' });
  assert.equal(values.BestEffort.unified, undefined);
});

test('what one pod adds', () => {
  const main = aContainer('main', { resources: { requests: { cpu: '100m', memory: '1Ki' } } });
  const pod = aPod({ spec: { containers: [main], overhead: { cpu: '50m' } } });
  assert.deepEqual(podDemand(pod), { qos: 'Burstable', milliCpu: 150n, memoryBytes: 1_024n });
  assert.deepEqual(podDemand(aPod()), { qos: 'BestEffort', milliCpu: 0n, memoryBytes: 0n });
});
