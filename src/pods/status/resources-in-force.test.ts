import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceRequirements } from '../../gen/kubernetes/types.ts';
import type { ObservedContainer, ObservedLimits } from '../../model/observed-pod.ts';
import { resourcesInForce } from './resources-in-force.ts';

const nothing: ObservedLimits = { cpuShares: 0n, cpuQuotaUs: 0n, cpuPeriodUs: 0n, memoryBytes: 0n };

interface Case {
  readonly name: string;
  readonly asked?: ResourceRequirements;
  readonly held?: Partial<ObservedLimits>;
  readonly state?: ObservedContainer['state'];
  readonly expected: ResourceRequirements;
}

const asked = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '128Mi' } };
const cases: readonly Case[] = [
  { name: 'nothing asked, nothing shown', held: { cpuShares: 2n }, expected: {} },
  { name: 'a runtime that does not report them', asked, expected: asked },
  {
    name: 'what the kernel holds it to',
    asked,
    held: { cpuShares: 204n, cpuQuotaUs: 60_000n, cpuPeriodUs: 100_000n, memoryBytes: 256n << 20n },
    expected: { requests: { cpu: '200m', memory: '64Mi' }, limits: { cpu: '600m', memory: '256Mi' } },
  },
  {
    name: 'a request that shares round down is what was asked',
    asked: { requests: { cpu: '100m' } },
    held: { cpuShares: 102n },
    expected: { requests: { cpu: '100m' } },
  },
  {
    name: 'the minimum weight is not what was asked',
    asked: { requests: { memory: '1Mi' } },
    held: { cpuShares: 2n },
    expected: { requests: { memory: '1Mi' } },
  },
  {
    name: 'the minimum quota neither',
    asked: { limits: { cpu: '5m' } },
    held: { cpuQuotaUs: 1_000n, cpuPeriodUs: 100_000n },
    expected: { limits: { cpu: '5m' } },
  },
  {
    name: 'no quota is no limit',
    asked: { limits: { cpu: '1' } },
    held: { cpuQuotaUs: -1n, cpuPeriodUs: 100_000n },
    expected: { limits: { cpu: '1' } },
  },
  {
    name: 'what does not run is held to nothing',
    asked,
    held: { cpuShares: 204n, memoryBytes: 1n },
    state: 'exited',
    expected: asked,
  },
];

for (const { name, asked: resources, held, state = 'running', expected } of cases) {
  test(name, () => {
    const container = { name: 'c', ...(resources && { resources }) };
    const observed = { state, ...(held && { held: { ...nothing, ...held } }) };
    assert.deepEqual(resourcesInForce(container, observed), expected);
  });
}
