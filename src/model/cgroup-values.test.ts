import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cgroupSettings, type CgroupValues } from './cgroup-values.ts';

/** Files and contents in short, for one version. */
const written = (values: CgroupValues, version: 1 | 2): string =>
  cgroupSettings(values, version)
    .map(({ file, value }) => `${file}=${value}`)
    .join(', ');

const cases: Readonly<Record<string, readonly [CgroupValues, string, string]>> = {
  nothing: [{}, '', ''],
  shares: [{ cpuShares: 1024n }, 'cpu.shares=1024', 'cpu.weight=39'],
  'the least shares': [{ cpuShares: 2n }, 'cpu.shares=2', 'cpu.weight=1'],
  'the most shares': [{ cpuShares: 262_144n }, 'cpu.shares=262144', 'cpu.weight=10000'],
  'a quota': [
    { cpuQuotaUs: 50_000n, cpuPeriodUs: 100_000n },
    'cpu.cfs_period_us=100000, cpu.cfs_quota_us=50000',
    'cpu.max=50000 100000',
  ],
  'no quota': [
    { cpuQuotaUs: -1n, cpuPeriodUs: 100_000n },
    'cpu.cfs_period_us=100000, cpu.cfs_quota_us=-1',
    'cpu.max=max 100000',
  ],
  'a quota of nothing says nothing': [{ cpuQuotaUs: 0n }, '', ''],
  'a period alone': [{ cpuPeriodUs: 20_000n }, 'cpu.cfs_period_us=20000', 'cpu.max=max 20000'],
  'memory and processes': [
    { memoryBytes: 1n << 30n, pids: 512n },
    'memory.limit_in_bytes=1073741824, pids.max=512',
    'memory.max=1073741824, pids.max=512',
  ],
  'no memory is no limit': [{ memoryBytes: 0n }, '', ''],
  'no limits': [
    { memoryBytes: -1n, pids: -1n },
    'memory.limit_in_bytes=-1, pids.max=max',
    'memory.swap.max=max, memory.max=max, pids.max=max',
  ],
  'huge pages, also none of them': [
    { hugePages: new Map([['2MB', 0n]]) },
    'hugetlb.2MB.limit_in_bytes=0, hugetlb.2MB.rsvd.limit_in_bytes=0',
    'hugetlb.2MB.max=0, hugetlb.2MB.rsvd.max=0',
  ],
  'what only version 2 has': [{ unified: { 'memory.min': '4096' } }, '', 'memory.min=4096'],
};

for (const [name, [values, version1, version2]] of Object.entries(cases)) {
  test(`files of: ${name}`, () => {
    assert.equal(written(values, 1), version1);
    assert.equal(written(values, 2), version2);
  });
}

test('the controller of each file; only what newer kernels have may be missing', () => {
  const all = cgroupSettings(
    { cpuShares: 2n, memoryBytes: 1n, hugePages: new Map([['1GB', 1n]]), unified: { 'memory.high': '1' } },
    2,
  );
  assert.deepEqual(
    all.map(({ controller, optional }) => `${controller}${optional ? '?' : ''}`),
    ['cpu', 'memory', 'hugetlb', 'hugetlb?', 'memory'],
  );
});
