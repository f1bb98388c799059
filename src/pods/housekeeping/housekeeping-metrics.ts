import type { Metrics } from '../../base/metrics.ts';

/** The metrics of housekeeping. */
export interface HousekeepingMetrics {
  /** Directories of unknown pods: how many were removed since the round before, and how many could not be. */
  swept(removed: number, failed: number): void;
}

export function housekeepingMetrics(metrics: Metrics, stuck: () => number): HousekeepingMetrics {
  const stability = 'ALPHA';
  metrics.observed(
    {
      name: 'tubelet_stuck_pods',
      help: 'Finished pods of which something cannot be removed; /statusz shows what and why.',
      stability,
      type: 'gauge',
    },
    () => [{ labels: {}, value: stuck() }],
  );
  const removed = metrics.gauge({
    name: 'kubelet_orphan_pod_cleaned_volumes',
    help: 'Unknown pods whose volumes and directory were removed in the last round.',
    stability,
  });
  const failed = metrics.gauge({
    name: 'kubelet_orphan_pod_cleaned_volumes_errors',
    help: 'Unknown pods whose volumes and directory could not be removed in the last round.',
    stability,
  });
  return {
    swept: (removedCount, failedCount) => {
      removed.set(removedCount);
      failed.set(failedCount);
    },
  };
}
