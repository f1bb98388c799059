import { describeOrigin } from './origin.ts';
import type { KubeletConfiguration } from './schema/fields.ts';
import type { Settings } from './settings.ts';

/**
 * Fields and flags that are read and validated but have no effect yet, the most important first. A row is removed when
 * the code that acts on it is added; a test makes sure that the tables never grow.
 */
const protection: readonly string[] = [
  'evictionHard',
  'imageGCHighThresholdPercent',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionMinimumReclaim',
  'evictionMaxPodGracePeriod',
  'evictionPressureTransitionPeriod',
  'mergeDefaultEvictionSettings',
  'kernelMemcgNotification',
  'imageGCLowThresholdPercent',
  'imageMinimumGCAge',
  'imageMaximumGCAge',
];

const managers: readonly string[] = [
  'cpuManagerPolicy',
  'cpuManagerPolicyOptions',
  'cpuManagerReconcilePeriod',
  'memoryManagerPolicy',
  'reservedMemory',
  'topologyManagerPolicy',
  'topologyManagerScope',
  'topologyManagerPolicyOptions',
];

const others: readonly string[] = [
  'enableControllerAttachDetach',
  'volumePluginDir',
  'hairpinMode',
  'iptablesMasqueradeBit',
  'iptablesDropBit',
  'contentType',
  'showHiddenMetricsForVersion',
  'enableContentionProfiling',
  'logging.options',
  '--experimental-mounter-path',
  '--pod-infra-container-image',
  '--housekeeping-interval',
  '--global-housekeeping-interval',
  '--application-metrics-count-limit',
  '--container-hints',
  '--containerd',
  '--containerd-namespace',
  '--enable-load-reader',
  '--event-storage-age-limit',
  '--event-storage-event-limit',
  '--log-cadvisor-usage',
  '--storage-driver-buffer-duration',
  '--storage-driver-db',
  '--storage-driver-host',
  '--storage-driver-password',
  '--storage-driver-secure',
  '--storage-driver-table',
  '--storage-driver-user',
];

export const notActedOnTable: readonly string[] = [...protection, ...managers, ...others];

/** Fields by which a Go kubelet does something by default, as long as the value enables it. */
const inForceByDefault: Readonly<Record<string, (config: KubeletConfiguration) => boolean>> = {
  evictionHard: ({ evictionHard }) => Object.values(evictionHard ?? {}).some((value) => !/^(0%?|100%)$/.test(value)),
  imageGCHighThresholdPercent: (config) => (config.imageGCHighThresholdPercent ?? 0) < 100,
};

/** The maximum of a readable line. */
const maxListed = 20;

/**
 * The settings that have no effect yet, though they were set or do something by default: the most important first,
 * each with its origin.
 */
export function notActedOn(settings: Pick<Settings, 'config' | 'provenance'>): readonly string[] {
  const { config, provenance } = settings;
  const places = new Map(provenance.flags.map((name) => [`--${name}`, '']));
  for (const { path, origin } of provenance.explicit) {
    const row = rowOf(path);
    if (row !== undefined && !places.has(row)) places.set(row, ` (${describeOrigin(origin)})`);
  }
  return notActedOnTable.flatMap((row) => {
    const place = places.get(row) ?? (inForceByDefault[row]?.(config) === true ? ' (default)' : undefined);
    return place === undefined ? [] : [`${row}${place}`];
  });
}

/** The list for one line of the log. */
export function shortened(list: readonly string[]): readonly string[] {
  if (list.length <= maxListed) return list;
  return [...list.slice(0, maxListed), `and ${list.length - maxListed} more, see tubelet config show`];
}

/** Whether the value at that path has no effect yet, for readers of the whole configuration. */
export function isNotActedOn(path: readonly string[]): boolean {
  return rowOf(path) !== undefined;
}

function rowOf(path: readonly string[]): string | undefined {
  const dotted = path.join('.');
  return notActedOnTable.find((name) => dotted === name || dotted.startsWith(`${name}.`));
}
