import { defaultBackoffLimits, type BackoffLimits } from '../../../base/backoff.ts';
import type { Settings } from '../../../config/index.ts';
import type { PodSource } from '../../../model/desired-pod.ts';
import { Quantity } from '../../../model/quantity.ts';
import type { RuntimeSettings } from '../../../model/runtime-settings.ts';
import type { LogPolicy } from '../../../pods/create-logs.ts';
import type { PodSettings } from '../../../pods/create-parts.ts';

/** The configuration of the life of pods. */
export function podSettings(settings: Settings, runtime: RuntimeSettings): PodSettings {
  return {
    runtime,
    resyncMs: settings.config.syncFrequency.toMillis(),
    restartLimits: restartLimits(settings),
    logs: logPolicy(settings),
  };
}

/** The configured sources, each of which must be read once before housekeeping removes anything. */
export function configuredSources({ config, flags }: Pick<Settings, 'config' | 'flags'>): readonly PodSource[] {
  const sources: readonly (readonly [PodSource, string])[] = [
    ['file', config.staticPodPath],
    ['http', config.staticPodURL],
    ['api', flags.kubeconfig],
  ];
  return sources.filter(([, place]) => place !== '').map(([source]) => source);
}

/** Log collectors search for links in one folder only, and only for logs in the default location. */
function logPolicy({ config, flags }: Settings): LogPolicy {
  return {
    limits: {
      maxSize: Number(Quantity.parse(config.containerLogMaxSize).value()),
      maxFiles: config.containerLogMaxFiles,
      maxWorkers: config.containerLogMaxWorkers,
      monitorIntervalMs: config.containerLogMonitorInterval.toMillis(),
    },
    podLogsDir: config.podLogsDir,
    linksDir: config.podLogsDir === '/var/log/pods' ? '/var/log/containers' : undefined,
    deadContainers: {
      minAgeMs: flags.minimumContainerTtlDuration.toMillis(),
      maxPerContainer: flags.maximumDeadContainersPerContainer,
      maxTotal: flags.maximumDeadContainers,
    },
  };
}

/** The restart back-off of crashed containers, from gates and configuration. */
function restartLimits({ config, featureGates }: Pick<Settings, 'config' | 'featureGates'>): BackoffLimits {
  const base = featureGates.enabled('ReduceDefaultCrashLoopBackOffDecay')
    ? { initialMs: 1_000, maxMs: 60_000 }
    : defaultBackoffLimits;
  const wanted = config.crashLoopBackOff.maxContainerRestartPeriod?.toMillis();
  if (!featureGates.enabled('KubeletCrashLoopBackOffMax') || wanted === undefined) return base;
  return { initialMs: Math.min(base.initialMs, wanted), maxMs: wanted };
}
