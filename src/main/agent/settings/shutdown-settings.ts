import type { Settings } from '../../../config/index.ts';
import type { ShutdownSettings } from '../../../shutdown/create-shutdown.ts';

/** The configuration of the graceful shutdown of the node. */
export function shutdownSettings({ config, featureGates, flags }: Settings): ShutdownSettings {
  const { rootDir } = flags;
  if (!featureGates.enabled('GracefulNodeShutdown')) return { rootDir, periods: undefined };
  const listed = featureGates.enabled('GracefulNodeShutdownBasedOnPodPriority');
  const periods = {
    whole: config.shutdownGracePeriod.nanos,
    critical: config.shutdownGracePeriodCriticalPods.nanos,
    byPriority: (listed ? config.shutdownGracePeriodByPodPriority : []).map((group) => ({
      priority: group.priority,
      seconds: group.shutdownGracePeriodSeconds,
    })),
  };
  return { rootDir, periods };
}
