import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container, PodSpec } from '../../gen/kubernetes/types.ts';
import type { CgroupValues } from '../../model/cgroup-values.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { podCgroupValues, type PodCgroupSettings } from './pod-cgroup-values.ts';

const settings: PodCgroupSettings = {
  cpuCfsQuota: true,
  cpuPeriodUs: 100_000n,
  podPidsLimit: -1,
  memoryQos: false,
  hugePageSizes: [],
};
const mega = 1n << 20n;

type Resources = Container['resources'];

const limits = (cpu: string, memory: string): Resources => ({ limits: { cpu, memory }, requests: { cpu, memory } });
const container = (name: string, resources: Resources, more: Partial<Container> = {}): Container =>
  aContainer(name, { resources: resources ?? {}, ...more });
const sidecar = (name: string, resources: Resources): Container =>
  container(name, resources, { restartPolicy: 'Always' });
const valuesOf = (spec: Partial<PodSpec>, more: Partial<PodCgroupSettings> = {}): CgroupValues =>
  podCgroupValues(aPod({ spec }), { ...settings, ...more });

/** Without huge pages, of which there are none here. */
const cases: Readonly<Record<string, readonly [Partial<PodSpec>, CgroupValues]>> = {
  'best effort: the minimum weight, no limits': [{ containers: [container('a', {})] }, { cpuShares: 2n }],
  'guaranteed: the sums': [
    { containers: [container('a', limits('500m', '64Mi')), container('b', limits('1', '32Mi'))] },
    { cpuShares: 1536n, cpuQuotaUs: 150_000n, cpuPeriodUs: 100_000n, memoryBytes: 96n * mega },
  ],
  'burstable, none limited': [
    { containers: [container('a', { requests: { cpu: '250m', memory: '64Mi' } })] },
    { cpuShares: 256n },
  ],
  'burstable, all limited': [
    { containers: [container('a', { requests: { cpu: '250m' }, limits: { cpu: '1', memory: '64Mi' } })] },
    { cpuShares: 256n, cpuQuotaUs: 100_000n, cpuPeriodUs: 100_000n, memoryBytes: 64n * mega },
  ],
  'burstable, one without a memory limit': [
    { containers: [container('a', limits('500m', '64Mi')), container('b', { limits: { cpu: '100m' } })] },
    { cpuShares: 512n, cpuQuotaUs: 60_000n, cpuPeriodUs: 100_000n },
  ],
  'asking for memory only weighs as little as nothing': [
    { containers: [container('a', { requests: { memory: '64Mi' } })] },
    { cpuShares: 2n },
  ],
  'a quota below the minimum is the minimum': [
    { containers: [container('a', limits('5m', '64Mi'))] },
    { cpuShares: 5n, cpuQuotaUs: 1_000n, cpuPeriodUs: 100_000n, memoryBytes: 64n * mega },
  ],
  'an init container peaks before the others start': [
    { initContainers: [container('i', limits('2', '256Mi'))], containers: [container('a', limits('1', '64Mi'))] },
    { cpuShares: 2048n, cpuQuotaUs: 200_000n, cpuPeriodUs: 100_000n, memoryBytes: 256n * mega },
  ],
  'a sidecar counts beside the others': [
    { initContainers: [sidecar('s', limits('1', '32Mi'))], containers: [container('a', limits('1', '64Mi'))] },
    { cpuShares: 2048n, cpuQuotaUs: 200_000n, cpuPeriodUs: 100_000n, memoryBytes: 96n * mega },
  ],
  'an unlimited init container lifts the limit': [
    { initContainers: [container('i', {})], containers: [container('a', limits('1', '64Mi'))] },
    { cpuShares: 1024n },
  ],
  'an unlimited sidecar lifts the limit': [
    { initContainers: [sidecar('s', {})], containers: [container('a', limits('1', '64Mi'))] },
    { cpuShares: 1024n },
  ],
  'behind a limited sidecar an init container counts with it': [
    {
      initContainers: [sidecar('s', limits('1', '32Mi')), container('i', {})],
      containers: [container('a', limits('1', '64Mi'))],
    },
    { cpuShares: 2048n, cpuQuotaUs: 200_000n, cpuPeriodUs: 100_000n, memoryBytes: 96n * mega },
  ],
  'the pod has limits of its own': [
    { resources: limits('2', '1Gi') ?? {}, containers: [container('a', {}), container('b', {})] },
    { cpuShares: 2048n, cpuQuotaUs: 200_000n, cpuPeriodUs: 100_000n, memoryBytes: 1024n * mega },
  ],
  'the pod has a memory limit of its own': [
    { resources: { limits: { memory: '1Gi' } }, containers: [container('a', { requests: { cpu: '1' } })] },
    { cpuShares: 1024n, memoryBytes: 1024n * mega },
  ],
  'overhead is on top': [
    { overhead: { cpu: '250m', memory: '16Mi' }, containers: [container('a', limits('1', '64Mi'))] },
    { cpuShares: 1280n, cpuQuotaUs: 125_000n, cpuPeriodUs: 100_000n, memoryBytes: 80n * mega },
  ],
};

describe('cpu and memory of a pod', () => {
  for (const [name, [spec, expected]] of Object.entries(cases)) {
    test(name, () => assert.deepEqual(valuesOf(spec), { ...expected, hugePages: new Map() }));
  }
});

const guaranteed = { containers: [container('a', limits('1', '64Mi'))] };

test('quotas may be off, for all pods or for those with exclusive CPUs', () => {
  assert.equal(valuesOf(guaranteed, { cpuCfsQuota: false }).cpuQuotaUs, -1n);
  assert.equal(podCgroupValues(aPod({ spec: guaranteed }), settings, { withoutCpuQuota: true }).cpuQuotaUs, -1n);
});

test('another period', () => {
  const { cpuQuotaUs, cpuPeriodUs } = valuesOf(guaranteed, { cpuPeriodUs: 10_000n });
  assert.deepEqual([cpuQuotaUs, cpuPeriodUs], [10_000n, 10_000n]);
});

test('processes are limited where that is configured', () => {
  assert.equal(valuesOf(guaranteed, { podPidsLimit: 1_024 }).pids, 1_024n);
  assert.equal(valuesOf(guaranteed, { podPidsLimit: 0 }).pids, undefined);
  assert.equal(valuesOf({}, { podPidsLimit: 7 }).pids, 7n, 'whatever the class');
});

test('huge pages: the request is the limit, other sizes have zero', () => {
  const asked = { 'hugepages-2Mi': '4Mi' };
  const spec = { containers: [container('a', { requests: { cpu: '1', ...asked }, limits: asked })] };
  const { hugePages } = valuesOf(spec, { hugePageSizes: ['2MB', '1GB'] });
  assert.deepEqual(hugePages && [...hugePages], [
    ['2MB', 4n * mega],
    ['1GB', 0n],
  ]);
});

test('requested memory is protected when the gate is on', () => {
  const spec = { containers: [container('a', { requests: { memory: '1Mi' } }), container('b', {})] };
  assert.deepEqual(valuesOf(spec, { memoryQos: true }).unified, { 'memory.min': String(mega) });
  assert.equal(valuesOf({}, { memoryQos: true }).unified, undefined);
});
