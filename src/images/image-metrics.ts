import type { Metrics } from '../base/metrics.ts';

/** What the metrics record of pulls. */
export interface ImageMetrics {
  pulled(sizeBytes: bigint, tookMs: number): void;
  pluginRan(name: string, tookMs: number): void;
  pluginFailed(name: string): void;
}

const pullBuckets = [1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600];
const pluginBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const megabyte = 1n << 20n;
const gigabyte = 1n << 30n;

/** Lower bounds, each with the label of what is above it. */
const sizes: readonly (readonly [bigint, string])[] = [
  [100n * gigabyte, 'GT100GB'],
  [60n * gigabyte, '60GB-100GB'],
  [40n * gigabyte, '40GB-60GB'],
  [30n * gigabyte, '30GB-40GB'],
  [20n * gigabyte, '20GB-30GB'],
  [10n * gigabyte, '10GB-20GB'],
  [5n * gigabyte, '5GB-10GB'],
  [gigabyte, '1GB-5GB'],
  [500n * megabyte, '500MB-1GB'],
  [100n * megabyte, '100MB-500MB'],
  [10n * megabyte, '10MB-100MB'],
  [0n, '0-10MB'],
];

/** Images by size in a few classes; a size that is not known is one of them. */
export function sizeLabel(bytes: bigint): string {
  return sizes.find(([above]) => bytes > above)?.[1] ?? 'N/A';
}

export function imageMetrics(metrics: Metrics): ImageMetrics {
  const pulls = metrics.histogram({
    name: 'kubelet_image_pull_duration_seconds',
    help: 'Time from asking for an image to having it, by size of the image.',
    stability: 'ALPHA',
    labels: ['image_size_in_bytes'],
    buckets: pullBuckets,
  });
  const durations = metrics.histogram({
    name: 'kubelet_credential_provider_plugin_duration',
    help: 'Running time of credential provider plugins in seconds.',
    stability: 'ALPHA',
    labels: ['plugin_name'],
    buckets: pluginBuckets,
  });
  const errors = metrics.counter({
    name: 'kubelet_credential_provider_plugin_errors_total',
    help: 'Runs of credential provider plugins that failed.',
    stability: 'ALPHA',
    labels: ['plugin_name'],
  });
  return {
    pulled: (bytes, tookMs) => pulls.observe(tookMs / 1_000, { image_size_in_bytes: sizeLabel(bytes) }),
    pluginRan: (name, tookMs) => durations.observe(tookMs / 1_000, { plugin_name: name }),
    pluginFailed: (name) => errors.inc({ plugin_name: name }),
  };
}

/** Publishes the hash of the configuration of credential providers. */
export function announceProviders(metrics: Metrics, hash: string): void {
  const info = metrics.gauge({
    name: 'kubelet_credential_provider_config_info',
    help: 'The configuration of credential providers in use, by its hash.',
    stability: 'ALPHA',
    labels: ['hash'],
  });
  info.set(1, { hash });
}
