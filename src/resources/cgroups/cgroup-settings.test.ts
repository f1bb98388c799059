import assert from 'node:assert/strict';
import { test } from 'node:test';
import { someCgroupSettings } from '../../testing/cgroup-settings.ts';
import { nodeCgroupSettings, podCgroupSettings, qosSettings } from './cgroup-settings.ts';

test('memory is protected by version 2 alone, and only where the gate is on', () => {
  const rows: readonly (readonly [1 | 2, boolean, boolean])[] = [
    [1, false, false],
    [1, true, false],
    [2, false, false],
    [2, true, true],
  ];
  for (const [cgroupVersion, memoryQosGate, expected] of rows) {
    const settings = someCgroupSettings({ cgroupVersion, memoryQosGate });
    const all = [nodeCgroupSettings, qosSettings, podCgroupSettings].map((derive) => derive(settings).memoryQos);
    assert.deepEqual(all, [expected, expected, expected], `version ${cgroupVersion}, gate ${memoryQosGate}`);
  }
});

test('the tiers get the allocatable memory, and how much of it is kept for higher ones', () => {
  const reserved = { kube: { memory: '1Gi' }, system: { memory: '1Gi' } };
  const { allocatableMemoryBytes, reservedMemoryPercent } = qosSettings(
    someCgroupSettings({ reserved, qosReservedMemory: 50n }),
  );
  assert.equal(allocatableMemoryBytes, 6n << 30n);
  assert.equal(reservedMemoryPercent, 50n);
  assert.equal(Object.hasOwn(qosSettings(someCgroupSettings()), 'reservedMemoryPercent'), false);
});

test('a cpuset is copied from above by version 1; systemd and version 2 need it said', () => {
  const cpus = (cgroupVersion: 1 | 2, cgroupDriver: 'cgroupfs' | 'systemd'): string =>
    nodeCgroupSettings(someCgroupSettings({ cgroupVersion, cgroupDriver })).cpus;
  assert.deepEqual(
    [cpus(1, 'cgroupfs'), cpus(1, 'systemd'), cpus(2, 'cgroupfs'), cpus(2, 'systemd')],
    ['', '0-1', '0-1', '0-1'],
  );
});

test('the period of quotas is in microseconds', () => {
  assert.equal(podCgroupSettings(someCgroupSettings({ cpuCfsQuotaPeriodMs: 100 })).cpuPeriodUs, 100_000n);
  assert.equal(podCgroupSettings(someCgroupSettings({ cpuCfsQuotaPeriodMs: 2.5 })).cpuPeriodUs, 2_500n);
});
