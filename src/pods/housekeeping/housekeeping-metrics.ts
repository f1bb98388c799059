import type { Metrics } from '../../base/metrics.ts';

/** What housekeeping tells of itself. */
export interface HousekeepingMetrics {
  /** Directories of pods that nobody knows: how many went since the look before, and how many could not. */
  swept(removed: number, failed: number): void;
}

/** Without a registry nothing is counted. */
export function housekeepingMetrics(metrics: Metrics | undefined, stuck: () => number): HousekeepingMetrics {
  const stability = 'ALPHA';
  metrics?.observed(
    {
      name: 'tubelet_stuck_pods',
      help: 'Pods that are over and of which something cannot be removed; /statusz tells what and why.',
      stability,
      type: 'gauge',
    },
    () => [{ labels: {}, value: stuck() }],
  );
  const removed = metrics?.gauge({
    name: 'kubelet_orphan_pod_cleaned_volumes',
    help: 'Pods nobody knows whose volumes and directory were removed in the last round.',
    stability,
  });
  const failed = metrics?.gauge({
    name: 'kubelet_orphan_pod_cleaned_volumes_errors',
    help: 'Pods nobody knows whose volumes and directory could not be removed in the last round.',
    stability,
  });
  return {
    swept: (went, stayed) => {
      removed?.set(went);
      failed?.set(stayed);
    },
  };
}
