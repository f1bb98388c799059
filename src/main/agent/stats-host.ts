import type { Clock } from '../../base/clock.ts';
import type { Settings } from '../../config/index.ts';
import {
  HostCgroupUsage,
  HostDisk,
  HostProcUsage,
  HostVolumeDisks,
  OpenFileCache,
  readMachineFacts,
  type ForeignStorage,
  type MachineInfo,
} from '../../host/index.ts';
import type { StatsHost } from '../../stats/index.ts';

interface StatsHostOptions {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly machine: MachineInfo;
  readonly storage: ForeignStorage;
}

/** Usage as this machine's kernel reports it. */
export async function statsHost({ clock, settings, machine, storage }: StatsHostOptions): Promise<StatsHost> {
  const { machineIdFile: machineIdFiles, bootIdFile } = settings.flags;
  return {
    facts: await readMachineFacts({ machine, machineIdFiles, bootIdFile }),
    cgroups: HostCgroupUsage.open({
      clock,
      version: machine.cgroupVersion,
      pressure: settings.featureGates.enabled('KubeletPSI'),
      files: OpenFileCache.open(clock),
    }),
    machine: new HostProcUsage(),
    disk: new HostDisk(clock),
    volumeDisks: new HostVolumeDisks({ clock, storage }),
  };
}
