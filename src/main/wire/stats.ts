import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Settings } from '../../config/index.ts';
import type { Cri } from '../../cri/index.ts';
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
import { podPaths } from '../../model/pod-paths.ts';
import { MeasuredVolumes, Stats, type ClaimUsage, type LogSize, type SeenPod } from '../../stats/index.ts';
import type { Registry } from '../../telemetry/index.ts';
import type { StorageDrivers } from '../../volumes/create-storage-drivers.ts';
import { DriverStats } from '../../volumes/csi/index.ts';
import type { PodMachine } from './pod-machine.ts';
import { runtimeSettings } from './runtime-settings.ts';
import { statsMetrics } from './stats-metrics.ts';

export interface StatsWiring {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly cri: Cri;
  readonly machine: Machine;
  readonly driver: 'cgroupfs' | 'systemd';
  readonly agentCgroup: { path(): string };
  readonly pods: PodMachine;
  /** What `/metrics` shows. */
  readonly registry: Registry;
  readonly drivers: StorageDrivers['drivers'];
  readonly storage: ForeignStorage;
}

/** What the node and its pods use, read from this machine's kernel and its runtime. */
export async function wireStats(wiring: StatsWiring): Promise<Stats> {
  const { settings, nodeName, clock, random, log, cri, machine, driver, pods, registry, agentCgroup } = wiring;
  const { config, flags, featureGates } = settings;
  const { cgroupRoot, cgroupsPerQos, rootDir, podLogsDir } = runtimeSettings(settings, {
    nodeName,
    machine,
    cgroupDriver: driver,
  });
  const pressure = featureGates.enabled('KubeletPSI');
  let logs: readonly LogSize[] = [];
  let claims: readonly ClaimUsage[] = [];
  const measured = statsMetrics({ metrics: registry, logs: () => logs, claims: () => claims });
  const measuredVolumes = new MeasuredVolumes();
  const stats = new Stats({
    clock,
    random,
    log,
    settings: {
      nodeName,
      rootDir,
      places: {
        cgroupRoot,
        cgroupDriver: driver,
        cgroupsPerQos,
        get kubeletCgroups() {
          return agentCgroup.path();
        },
        runtimeCgroups: flags.runtimeCgroups,
        systemCgroups: config.systemCgroups,
      },
      pressure,
      volumePeriodMs: config.volumeStatsAggPeriod.toMillis(),
    },
    paths: podPaths(rootDir, podLogsDir),
    facts: await readMachineFacts({ machine, machineIdFiles: flags.machineIdFile, bootIdFile: flags.bootIdFile }),
    cgroups: HostCgroupUsage.open({
      clock,
      version: machine.cgroupVersion,
      pressure,
      files: KeptFiles.open(clock),
    }),
    machine: new HostProcUsage(),
    disk: new HostDisk(clock),
    runtime: cri,
    pods: {
      all: () => {
        const all: SeenPod[] = [];
        for (const seen of pods.seen()) {
          const pod = pods.desired.get(seen.uid);
          if (pod !== undefined) all.push({ pod, startTime: pods.statuses.get(seen.uid)?.startTime, seen });
        }
        return all;
      },
    },
    volumesOf: (uid) => {
      const pod = pods.desired.get(uid);
      return pod === undefined ? [] : measuredVolumes.of(pod, pods.volumes.mounted(uid));
    },
    drivers: wireDriverStats(wiring),
    volumeDisks: new HostVolumeDisks({ clock, storage: wiring.storage }),
    volumeMeasured: (source, seconds) => measured.volumeMeasured(source, seconds),
  });
  registry.beforePage(async () => {
    [logs, claims] = await Promise.all([stats.logs(), stats.claims()]);
  });
  return stats;
}

/** What storage drivers say of their volumes; pods are told of what is wrong with one where that is wanted. */
function wireDriverStats({ settings, clock, drivers, pods }: StatsWiring): DriverStats {
  const tells = settings.featureGates.enabled('CSIVolumeHealth');
  return new DriverStats({
    clock,
    drivers,
    mounted: (uid) => pods.volumes.mounted(uid),
    ...(tells && { abnormal: (uid, event) => pods.tell(uid, event) }),
  });
}
