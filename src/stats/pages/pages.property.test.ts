import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, it } from 'node:test';
import type { CgroupOwner, OwnedUsage } from '../../model/usage.ts';
import { floatText } from '../../telemetry/exposition.ts';
import { parseMetrics } from '../../testing/parse-metrics.ts';
import { someMachine, usageSnapshot } from '../../testing/usage-snapshots.ts';
import { cadvisorPage, resourcePage } from './index.ts';
import { numberText } from './family.ts';

const rich = usageSnapshot({ version: 2, pods: 1, containersPerPod: 1 });
const containers = rich.cgroups.filter(({ owner }) => owner?.container === 'container-0');
const template = containers[0];
assert.ok(template);

const pageText = (cgroups: readonly OwnedUsage[]): string =>
  [...cadvisorPage({ ...rich, cgroups }, someMachine)].join('');

const nasty = fc.string({
  unit: fc.constantFrom('"', '\\', '\n', 'n', '{', '}', ',', '=', ' ', '\r', '\t', '\0', 'ä', '\u{1F600}'),
});
const anyText = fc.oneof(nasty, fc.string({ unit: 'grapheme' }), fc.constantFrom('', '\\n', '\\\\', '"', '\n'));
const owner: fc.Arbitrary<CgroupOwner> = fc.record({
  namespace: anyText,
  pod: anyText,
  podUid: anyText,
  container: anyText.filter((name) => name !== 'POD'),
  id: anyText,
  image: anyText,
});
const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.tuple(fc.nat(999), fc.nat(15)).map(([digits, power]) => digits * 10 ** power),
  fc.constantFrom(
    0,
    -0,
    1e-4,
    9.99e-5,
    999_999,
    1e6,
    1_000_001,
    2 ** 31 - 1,
    2 ** 31,
    1e21,
    Number.MAX_VALUE,
    Number.MIN_VALUE,
  ),
);

describe('numbers', () => {
  it('are those of the registry', () => {
    fc.assert(
      fc.property(number, (value) => assert.equal(numberText(value), floatText(value))),
      { numRuns: 3_000 },
    );
  });
});

describe('pages', () => {
  it('keep any label', () => {
    fc.assert(
      fc.property(owner, anyText, anyText, (of, path, network) => {
        const [device] = template.usage.devices;
        const owned: OwnedUsage = {
          ...template,
          owner: of,
          usage: { ...template.usage, path: `/x${path}`, devices: [{ ...device!, device: `/dev/${network}` }] },
          network: [{ ...rich.cgroups[0]!.network[0]!, name: network }],
        };
        const page = parseMetrics(pageText([owned]));
        const labels = (name: string) => Object.fromEntries(page.get(name)?.samples[0]?.labels ?? []);
        const base = {
          container: of.container,
          id: `/x${path}`,
          image: of.image,
          name: of.id,
          namespace: of.namespace,
          pod: of.pod,
        };
        assert.deepEqual(labels('container_memory_rss'), base);
        assert.deepEqual(labels('container_network_receive_bytes_total'), { ...base, interface: network });
        assert.deepEqual(labels('container_fs_reads_total'), { ...base, device: `/dev/${network}` });
        const resources = parseMetrics(resourcePage({ ...rich, cgroups: [owned] }));
        const name = of.container === '' ? 'pod_memory_working_set_bytes' : 'container_memory_working_set_bytes';
        const { container, namespace, pod } = base;
        const expected = of.container === '' ? { namespace, pod } : { container, namespace, pod };
        assert.deepEqual(Object.fromEntries(resources.get(name)?.samples[0]?.labels ?? []), expected);
      }),
    );
  });

  it('are well formed and have no NaN, whatever is known of whom', () => {
    const value = fc.option(fc.oneof(fc.maxSafeInteger(), fc.double()), { nil: undefined });
    const cgroup = fc.record({
      owner: fc.option(owner, { nil: undefined }),
      cpu: value,
      memory: value,
      createdAt: value,
    });
    fc.assert(
      fc.property(fc.array(cgroup, { maxLength: 8 }), (all) => {
        const cgroups = all.map(({ owner: of, cpu, memory, createdAt }, index): OwnedUsage => {
          const cpuUsage = cpu === undefined ? undefined : { totalNs: cpu, userNs: cpu, systemNs: cpu };
          const memoryUsage = memory === undefined ? undefined : { ...template.usage.memory!, workingSet: memory };
          const usage = { ...template.usage, path: `/${index}`, cpu: cpuUsage, memory: memoryUsage, createdAt };
          return { ...template, owner: of, usage };
        });
        for (const text of [pageText(cgroups), resourcePage({ ...rich, cgroups })])
          for (const { samples } of parseMetrics(text).values())
            for (const { value } of samples) assert.ok(Number.isFinite(value));
      }),
    );
  });
});
