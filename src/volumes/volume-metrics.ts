import type { Metrics } from '../base/metrics.ts';

/** Operations by the names that the metrics have for them. */
export type VolumeOperation = 'volume_mount' | 'volume_unmount' | 'map_volume' | 'unmap_volume';

/** What the metrics record of volumes. */
export interface VolumeMetrics {
  operated(operation: VolumeOperation, plugin: string, seconds: number, failed: boolean): void;
  /** A volume is mounted, or unmounted, this long after that was first wanted, all tries together. */
  settled(operation: VolumeOperation, plugin: string, seconds: number): void;
  /** The disk has a volume of an earlier process; `known` where a plugin handles it. */
  found(known: boolean): void;
}

export interface VolumeCount {
  readonly plugin: string;
  readonly wanted: number;
  readonly mounted: number;
}

const buckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

export function volumeMetrics(metrics: Metrics, counts: () => readonly VolumeCount[]): VolumeMetrics {
  const stability = 'ALPHA';
  const durations = metrics.histogram({
    name: 'storage_operation_duration_seconds',
    help: 'Seconds that one try at setting a volume up or tearing it down took.',
    stability,
    labels: ['volume_plugin', 'operation_name', 'status', 'migrated'],
    buckets,
  });
  const totals = metrics.histogram({
    name: 'volume_operation_total_seconds',
    help: 'Seconds from the first try to mount or unmount a volume to its success.',
    stability,
    labels: ['plugin_name', 'operation_name'],
    buckets,
  });
  const found = metrics.counter({
    name: 'reconstruct_volume_operations_total',
    help: 'Volumes of an earlier process of the agent that were found on the disk.',
    stability,
  });
  const unknown = metrics.counter({
    name: 'reconstruct_volume_operations_errors_total',
    help: 'Volumes of an earlier process of the agent that no plugin handles.',
    stability,
  });
  metrics.observed(
    {
      name: 'volume_manager_total_volumes',
      help: 'Volumes that pods want, and those that are ready.',
      stability,
      type: 'gauge',
      labels: ['plugin_name', 'state'],
    },
    () =>
      counts().flatMap(({ plugin, wanted, mounted }) => [
        { labels: { plugin_name: plugin, state: 'desired_state_of_world' }, value: wanted },
        { labels: { plugin_name: plugin, state: 'actual_state_of_world' }, value: mounted },
      ]),
  );
  return {
    operated: (operation, plugin, seconds, failed) =>
      durations.observe(seconds, {
        volume_plugin: plugin,
        operation_name: operation,
        status: failed ? 'fail-unknown' : 'success',
        migrated: 'false',
      }),
    settled: (operation, plugin, seconds) =>
      totals.observe(seconds, { plugin_name: plugin, operation_name: `overall_${operation}` }),
    found: (known) => {
      found.inc();
      if (!known) unknown.inc();
    },
  };
}

/** What the metrics record of image volumes. */
export interface ImageVolumeMetrics {
  requested(): void;
  mounted(): void;
  failed(): void;
}

export function imageVolumeMetrics(metrics: Metrics): ImageVolumeMetrics {
  const count = (name: string, help: string) => metrics.counter({ name, help, stability: 'ALPHA' });
  const requested = count('kubelet_image_volume_requested_total', 'Volumes that are images and were to be made ready.');
  const mounted = count('kubelet_image_volume_mounted_succeed_total', 'Volumes that are images and are ready.');
  const failed = count('kubelet_image_volume_mounted_errors_total', 'Volumes that are images and could not be had.');
  return { requested: () => requested.inc(), mounted: () => mounted.inc(), failed: () => failed.inc() };
}
