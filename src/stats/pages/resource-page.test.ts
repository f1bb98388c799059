import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CgroupUsage, OwnedUsage, UsageSnapshot } from '../../model/usage.ts';
import { parseMetrics, type ParsedMetrics } from '../../testing/parse-metrics.ts';
import { usageSnapshot } from '../../testing/usage-snapshots.ts';
import { resourcePage, type ScrapeOptions } from './index.ts';

const rich = usageSnapshot({ version: 2, pods: 1, containersPerPod: 2 });
const pod = rich.cgroups.find(({ owner }) => owner?.container === '');
const sandbox = rich.cgroups.find(({ owner }) => owner?.container === 'POD');
const container = rich.cgroups.find(({ owner }) => owner?.container === 'container-0');
assert.ok(pod && sandbox && container);

const read = (snapshot?: UsageSnapshot, options?: ScrapeOptions): ParsedMetrics =>
  parseMetrics(resourcePage(snapshot, options));
const of = (...cgroups: readonly OwnedUsage[]): ParsedMetrics => read({ ...rich, cgroups });
const values = (page: ParsedMetrics, name: string): readonly number[] =>
  (page.get(name)?.samples ?? []).map(({ value }) => value);
const changed = (owned: OwnedUsage, change: Partial<CgroupUsage>): OwnedUsage => ({
  ...owned,
  usage: { ...owned.usage, ...change },
});

describe('resourcePage', () => {
  it('has containers, pods and the node, and no sandbox', () => {
    const page = read(rich);
    const labels = page
      .get('container_cpu_usage_seconds_total')
      ?.samples.map((sample) => Object.fromEntries(sample.labels));
    const { namespace, pod: name } = pod.owner!;
    assert.deepEqual(labels, [
      { container: 'container-0', namespace, pod: name },
      { container: 'container-1', namespace, pod: name },
    ]);
    assert.deepEqual(values(page, 'pod_cpu_usage_seconds_total'), [pod.usage.cpu!.totalNs / 1e9]);
    assert.deepEqual(values(page, 'pod_memory_working_set_bytes'), [pod.usage.memory!.workingSet]);
    assert.deepEqual(values(page, 'node_memory_working_set_bytes'), [rich.cgroups[0]?.usage.memory?.workingSet]);
    assert.deepEqual(values(page, 'container_swap_limit_bytes'), [134_217_728, 134_217_728]);
    assert.deepEqual(values(page, 'resource_scrape_error'), [0]);
  });

  it('is sorted by name and says how stable each family is', () => {
    const page = read(rich);
    assert.deepEqual([...page.keys()], [...page.keys()].toSorted());
    for (const { name, help } of page.values())
      assert.match(help, name.includes('_swap_') ? /^\[ALPHA\] / : /^\[STABLE\] /, name);
  });

  it('stamps everything but start times and its own scrapeError', () => {
    for (const { name, samples } of read(rich).values()) {
      const moments = samples.map(({ timestamp }) => timestamp !== undefined);
      const stamped = name !== 'container_start_time_seconds' && name !== 'resource_scrape_error';
      assert.deepEqual([...new Set(moments)], [stamped], name);
    }
  });

  it('has start times with their fraction, and no unknown one', () => {
    assert.deepEqual(
      values(of(changed(container, { createdAt: 1_700_000_000_250 })), 'container_start_time_seconds'),
      [1_700_000_000.25],
    );
    for (const createdAt of [undefined, 0])
      assert.deepEqual(values(of(changed(container, { createdAt })), 'container_start_time_seconds'), []);
  });

  it('takes the newest of containers and pods of one name', () => {
    const aged = (owned: OwnedUsage, createdAt: number, podUid: string): OwnedUsage => ({
      ...changed(owned, {
        path: `${owned.usage.path}/${podUid}`,
        createdAt,
        memory: { ...owned.usage.memory!, workingSet: createdAt },
      }),
      owner: { ...owned.owner!, podUid },
    });
    for (const order of [
      [1, 2, 3],
      [3, 2, 1],
      [2, 3, 1],
    ]) {
      const page = of(...order.flatMap((age) => [aged(pod, age, `uid-${age}`), aged(container, age, `uid-${age}`)]));
      assert.deepEqual(values(page, 'container_memory_working_set_bytes'), [3]);
      assert.deepEqual(values(page, 'pod_memory_working_set_bytes'), [3]);
    }
  });

  it('sums up a pod that has no cgroup of its own', () => {
    const withoutSwap = changed(sandbox, { memory: undefined });
    const page = of(container, withoutSwap);
    const parts = [container, withoutSwap].map(({ usage }) => usage);
    assert.deepEqual(values(page, 'pod_cpu_usage_seconds_total'), [
      parts.reduce((sum, { cpu }) => sum + cpu!.totalNs, 0) / 1e9,
    ]);
    assert.deepEqual(values(page, 'pod_memory_working_set_bytes'), [container.usage.memory!.workingSet]);
    assert.deepEqual(values(page, 'pod_swap_usage_bytes'), [container.usage.memory!.swap]);
  });

  it('leaves out unknown values', () => {
    const page = of(
      changed(container, {
        cpu: undefined,
        memory: undefined,
        limits: { ...container.usage.limits, memorySwap: undefined },
      }),
    );
    assert.deepEqual([...page.keys()], ['container_start_time_seconds', 'resource_scrape_error']);
  });

  it('says when values could not be read', () => {
    assert.deepEqual([...read().keys()], ['resource_scrape_error']);
    assert.deepEqual(values(read(), 'resource_scrape_error'), [1]);
    assert.deepEqual(values(read(rich, { incomplete: true }), 'resource_scrape_error'), [1]);
  });
});
