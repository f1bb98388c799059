import type { Clock } from '../../base/clock.ts';
import type { Settings } from '../../config/index.ts';
import {
  HostCgroupUsage,
  HostDisk,
  HostProcUsage,
  HostVolumeDisks,
  KeptFiles,
  readMachineFacts,
  type ForeignStorage,
  type Machine,
} from '../../host/index.ts';
import type { StatsHost, StatsRootSettings } from '../../stats/index.ts';
import { runtimeSettings } from './runtime-settings.ts';

/** What the configuration says of what is measured, and where it is found. */
export function statsSettings(settings: Settings, node: Parameters<typeof runtimeSettings>[1]): StatsRootSettings {
  const { config, flags, featureGates } = settings;
  const { nodeName, rootDir, podLogsDir, cgroupRoot, cgroupDriver, cgroupsPerQos } = runtimeSettings(settings, node);
  const { runtimeCgroups } = flags;
  const { systemCgroups } = config;
  return {
    nodeName,
    rootDir,
    podLogsDir,
    places: { cgroupRoot, cgroupDriver, cgroupsPerQos, runtimeCgroups, systemCgroups },
    pressure: featureGates.enabled('KubeletPSI'),
    volumePeriodMs: config.volumeStatsAggPeriod.toMillis(),
  };
}

export interface StatsHostOptions {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly machine: Machine;
  readonly storage: ForeignStorage;
}

/** Usage as this machine's kernel tells it. */
export async function statsHost({ clock, settings, machine, storage }: StatsHostOptions): Promise<StatsHost> {
  const { machineIdFile: machineIdFiles, bootIdFile } = settings.flags;
  return {
    facts: await readMachineFacts({ machine, machineIdFiles, bootIdFile }),
    cgroups: HostCgroupUsage.open({
      clock,
      version: machine.cgroupVersion,
      pressure: settings.featureGates.enabled('KubeletPSI'),
      files: KeptFiles.open(clock),
    }),
    machine: new HostProcUsage(),
    disk: new HostDisk(clock),
    volumeDisks: new HostVolumeDisks({ clock, storage }),
  };
}
