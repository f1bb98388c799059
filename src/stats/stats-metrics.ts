import type { Histogram, Metrics, MetricSample } from '../base/metrics.ts';
import type { ClaimUsage, LogSize, VolumeSource } from './ports.ts';
import type { Stats } from './stats.ts';

const claimGauges: readonly (readonly [
  name: string,
  help: string,
  value: (usage: ClaimUsage) => number | undefined,
])[] = [
  ['capacity_bytes', 'Size of the volume.', ({ capacityBytes }) => capacityBytes],
  ['available_bytes', 'Room that is left in the volume.', ({ availableBytes }) => availableBytes],
  ['used_bytes', 'Room in use in the volume.', ({ usedBytes }) => usedBytes],
  ['inodes', 'Inodes that the volume can have.', ({ inodes }) => inodes],
  ['inodes_free', 'Inodes that are left in the volume.', ({ inodesFree }) => inodesFree],
  ['inodes_used', 'Inodes in use in the volume.', ({ inodesUsed }) => inodesUsed],
  [
    'health_status_abnormal',
    '1 where the driver says that something is wrong with the volume, 0 where it says that nothing is.',
    ({ isAbnormal }) => (isAbnormal === undefined ? undefined : Number(isAbnormal)),
  ],
];

/** What pods take on the disks, as it was when the page was last prepared. */
export class StatsMetrics {
  readonly #durations: Histogram<'metric_source'>;
  #logs: readonly LogSize[] = [];
  #claims: readonly ClaimUsage[] = [];

  constructor(metrics: Metrics) {
    const stability = 'ALPHA';
    metrics.observed(
      {
        name: 'kubelet_container_log_filesystem_used_bytes',
        help: 'What the logs of a container take on the disk.',
        stability,
        type: 'gauge',
        labels: ['uid', 'namespace', 'pod', 'container'],
      },
      () => this.#logs.map(({ bytes: value, ...labels }) => ({ labels, value })),
    );
    for (const [name, help, value] of claimGauges) {
      metrics.observed(
        {
          name: `kubelet_volume_stats_${name}`,
          help,
          stability,
          type: 'gauge',
          labels: ['namespace', 'persistentvolumeclaim'],
        },
        () => claimReadings(this.#claims, value),
      );
    }
    this.#durations = metrics.histogram({
      name: 'kubelet_volume_metric_collection_duration_seconds',
      help: 'Seconds that measuring a volume took, by how it was done.',
      stability,
      labels: ['metric_source'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    });
  }

  /** Before a page is written. */
  async prepare(stats: Pick<Stats, 'logs' | 'claims'>): Promise<void> {
    [this.#logs, this.#claims] = await Promise.all([stats.logs(), stats.claims()]);
  }

  volumeMeasured(source: VolumeSource, seconds: number): void {
    this.#durations.observe(seconds, { metric_source: source });
  }
}

/** Several pods may use one claim; it is reported once. */
function claimReadings(
  claims: Iterable<ClaimUsage>,
  valueOf: (usage: ClaimUsage) => number | undefined,
): Iterable<MetricSample<'namespace' | 'persistentvolumeclaim'>> {
  const readings = new Map<string, MetricSample<'namespace' | 'persistentvolumeclaim'>>();
  for (const usage of claims) {
    const { namespace, claim } = usage;
    const value = valueOf(usage);
    if (value === undefined) continue;
    readings.set(`${namespace}/${claim}`, { labels: { namespace, persistentvolumeclaim: claim }, value });
  }
  return readings.values();
}
