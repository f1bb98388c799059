import type { Settings } from '../../../config/index.ts';
import type { RuntimeSettings } from '../../../model/runtime-settings.ts';
import type { StatsRootSettings } from '../../../stats/index.ts';

/** The configuration of statistics. */
export function statsSettings(
  { config, flags, featureGates }: Settings,
  { nodeName, rootDir, podLogsDir, cgroupRoot, cgroupDriver, cgroupsPerQos }: RuntimeSettings,
): StatsRootSettings {
  const { runtimeCgroups } = flags;
  const { systemCgroups } = config;
  return {
    nodeName,
    rootDir,
    podLogsDir,
    cgroupLayout: { cgroupRoot, cgroupDriver, cgroupsPerQos, runtimeCgroups, systemCgroups },
    pressure: featureGates.enabled('KubeletPSI'),
    volumePeriodMs: config.volumeStatsAggPeriod.toMillis(),
  };
}
