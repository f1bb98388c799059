import { describeOrigin } from './origin.ts';
import type { Settings } from './settings.ts';

/**
 * Fields and flags that are read and checked but change nothing yet. A row goes away when the code that acts on it
 * arrives; the table never grows, a test sees to that.
 */
export const notActedOnTable: readonly string[] = [
  'enableContentionProfiling',
  'oomScoreAdj',
  'imageMinimumGCAge',
  'imageMaximumGCAge',
  'imageGCHighThresholdPercent',
  'imageGCLowThresholdPercent',
  'systemCgroups',
  'cpuManagerPolicy',
  'cpuManagerPolicyOptions',
  'cpuManagerReconcilePeriod',
  'memoryManagerPolicy',
  'topologyManagerPolicy',
  'topologyManagerScope',
  'topologyManagerPolicyOptions',
  'hairpinMode',
  'maxOpenFiles',
  'contentType',
  'evictionHard',
  'evictionSoft',
  'evictionSoftGracePeriod',
  'evictionPressureTransitionPeriod',
  'evictionMaxPodGracePeriod',
  'evictionMinimumReclaim',
  'mergeDefaultEvictionSettings',
  'enableControllerAttachDetach',
  'protectKernelDefaults',
  'makeIPTablesUtilChains',
  'iptablesMasqueradeBit',
  'iptablesDropBit',
  'failSwapOn',
  'memorySwap',
  'showHiddenMetricsForVersion',
  'volumePluginDir',
  'kernelMemcgNotification',
  'logging.options',
  'shutdownGracePeriod',
  'shutdownGracePeriodCriticalPods',
  'shutdownGracePeriodByPodPriority',
  'reservedMemory',
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

/** Which of the things somebody set have no effect yet, each with where it was set. */
export function notActedOn({ provenance }: Pick<Settings, 'provenance'>): readonly string[] {
  const places = new Map<string, string>();
  for (const { path, origin } of provenance.explicit) {
    const dotted = path.join('.');
    const row = notActedOnTable.find((name) => dotted === name || dotted.startsWith(`${name}.`));
    if (row !== undefined && !places.has(row)) places.set(row, `${row} (${describeOrigin(origin)})`);
  }
  const flags = provenance.flags.map((name) => `--${name}`).filter((flag) => notActedOnTable.includes(flag));
  return [...places.values(), ...flags];
}
