import type { Pod } from '../../../src/gen/kubernetes/types.ts';
import { rankPods, type DiskLayout } from '../../../src/eviction/rank-pods.ts';
import { desiredPod } from '../../../src/model/desired-pod.ts';
import type { EvictionSignal } from '../../../src/model/eviction-thresholds.ts';
import type { PodStats } from '../../../src/model/stats-summary.ts';
import { compareRows, loadTable } from '../compare-rows.ts';
import { differences } from './differences.ts';

interface RankingSet {
  readonly id: string;
  readonly pods: readonly Pod[];
  readonly stats: readonly (PodStats | null)[];
  /** Indices of the pods, first to be evicted first. Layout `any`: the order is the same with each. */
  readonly orders: Readonly<Record<DiskLayout | 'any', Readonly<Partial<Record<EvictionSignal, readonly number[]>>>>>;
}

compareRows(
  'ranking',
  loadTable<{ readonly sets: readonly RankingSet[] }>('eviction/ranking').sets.flatMap(
    ({ id, pods, stats, orders }) => {
      const candidates = pods.map((pod, index) => ({
        pod: desiredPod('api', { ...pod, metadata: { namespace: 'd', ...pod.metadata } }),
        stats: stats[index] ?? undefined,
      }));
      return (Object.keys(orders) as (DiskLayout | 'any')[]).flatMap((layout) =>
        (Object.entries(orders[layout]) as [EvictionSignal, readonly number[]][]).map(([signal, order]) => ({
          key: `${id} ${layout} ${signal}`,
          recorded: order,
          ours: () =>
            rankPods(candidates, signal, layout === 'any' ? 'single' : layout).map((one) =>
              candidates.indexOf(one as never),
            ),
        })),
      );
    },
  ),
  differences,
);
