import type { Settings } from '../../../config/index.ts';
import type { PodSource } from '../../../model/desired-pod.ts';
import { Quantity } from '../../../model/quantity.ts';
import type { RuntimeSettings } from '../../../model/runtime-settings.ts';
import type { LogPolicy } from '../../../pods/create-logs.ts';
import type { PodSettings } from '../../../pods/create-parts.ts';
import { restartLimits } from './restart-limits.ts';

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
