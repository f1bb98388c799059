import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Container } from '../../gen/kubernetes/types.ts';
import { cgroupSettings } from '../../model/cgroup-values.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { podCgroupValues, type PodCgroupSettings } from './pod-cgroup-values.ts';
import { podDemand, qosCgroupValues } from './qos-cgroup-values.ts';

const settings: PodCgroupSettings = {
  cpuCfsQuota: true,
  cpuPeriodUs: 100_000n,
  podPidsLimit: 100,
  memoryQos: false,
  hugePageSizes: [],
};
const amount = fc.option(fc.integer({ min: 1, max: 400_000 }), { nil: undefined });
const resources = fc.record({ cpu: amount, limit: amount, memory: amount });
type Shape = { cpu: number | undefined; limit: number | undefined; memory: number | undefined };
const shapes = fc.array(resources, { minLength: 1, maxLength: 4 });

const containerOf = ({ cpu, limit, memory }: Shape, index: number, more: Partial<Container> = {}): Container =>
  aContainer(`c${index}`, {
    resources: {
      requests: { ...(cpu !== undefined && { cpu: `${cpu}m` }) },
      limits: {
        ...(limit !== undefined && { cpu: `${limit}m` }),
        ...(memory !== undefined && { memory: `${memory}Ki` }),
      },
    },
    ...more,
  });
const podOf = (containers: readonly Container[]): ReturnType<typeof aPod> =>
  aPod({ spec: { containers: [...containers] } });

const numberIn = (values: Parameters<typeof cgroupSettings>[0], version: 1 | 2, file: string): number =>
  Number(cgroupSettings(values, version).find((setting) => setting.file === file)?.value);

test('a larger request never has a lower weight, in either version', () => {
  fc.assert(
    fc.property(shapes, fc.integer({ min: 1, max: 300_000 }), (given, extra) => {
      const containers = given.map((shape, index) => containerOf(shape, index));
      const more = [...containers, containerOf({ cpu: extra, limit: undefined, memory: undefined }, 9)];
      const [light, heavy] = [podCgroupValues(podOf(containers), settings), podCgroupValues(podOf(more), settings)];
      for (const [version, file] of [
        [1, 'cpu.shares'],
        [2, 'cpu.weight'],
      ] as const) {
        const [one, other] = [numberIn(light, version, file), numberIn(heavy, version, file)];
        assert.ok(one <= other, `${file} ${one} above ${other}`);
        assert.ok(other <= (version === 1 ? 262_144 : 10_000) && one >= (version === 1 ? 2 : 1));
      }
    }),
  );
});

test('a quota is at least what the kernel takes, and never below the sum of the containers', () => {
  fc.assert(
    fc.property(shapes, (given) => {
      const { cpuQuotaUs } = podCgroupValues(podOf(given.map((shape, index) => containerOf(shape, index))), settings);
      if (cpuQuotaUs === undefined) return;
      assert.ok(cpuQuotaUs >= 1_000n);
      const sum = given.reduce((total, { limit }) => total + BigInt(limit ?? 0), 0n);
      assert.ok(cpuQuotaUs >= (sum * 100_000n) / 1_000n);
    }),
  );
});

test('a pod is limited only when each of its containers is', () => {
  fc.assert(
    fc.property(shapes, (given) => {
      const values = podCgroupValues(podOf(given.map((shape, index) => containerOf(shape, index))), settings);
      const allLimited = (key: 'limit' | 'memory'): boolean => given.every((shape) => shape[key] !== undefined);
      assert.equal(values.memoryBytes !== undefined, allLimited('memory'));
      assert.equal(values.cpuQuotaUs !== undefined, allLimited('limit'));
    }),
  );
});

test('a tier weighs no less with one pod more, and lower tiers never have more memory', () => {
  fc.assert(
    fc.property(fc.array(shapes, { maxLength: 5 }), shapes, fc.integer({ min: 0, max: 100 }), (pods, one, percent) => {
      const demands = pods.map((given) => podDemand(podOf(given.map((shape, index) => containerOf(shape, index)))));
      const another = podDemand(podOf(one.map((shape, index) => containerOf(shape, index))));
      const tiers = (list: typeof demands): ReturnType<typeof qosCgroupValues> =>
        qosCgroupValues(list, {
          hugePageSizes: [],
          memoryQos: false,
          reservedMemoryPercent: BigInt(percent),
          allocatableMemoryBytes: 1n << 40n,
        });
      const [before, after] = [tiers(demands), tiers([...demands, another])];
      assert.ok((before.Burstable.cpuShares ?? 0n) <= (after.Burstable.cpuShares ?? 0n));
      assert.ok((after.BestEffort.memoryBytes ?? 0n) <= (after.Burstable.memoryBytes ?? 0n));
      assert.ok((after.Burstable.memoryBytes ?? 0n) <= (before.Burstable.memoryBytes ?? 0n));
    }),
  );
});
