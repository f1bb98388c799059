import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import type { MachineFacts } from '../model/usage.ts';
import type {
  CgroupReader,
  Disk,
  DriverUsages,
  MachineReader,
  StatsPods,
  StatsRuntime,
  VolumeDisks,
  VolumeSource,
  VolumesOf,
} from './ports.ts';
import type { CgroupLayout } from './targets.ts';

export interface StatsSettings {
  readonly nodeName: string;
  /** The agent's own folder: the file system it is on is the node's. */
  readonly rootDir: string;
  readonly cgroupLayout: CgroupLayout;
  /** Gate KubeletPSI. */
  readonly pressure: boolean;
  /** volumeStatsAggPeriod; below or at 0 volumes are not measured. */
  readonly volumePeriodMs: number;
}

export interface StatsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly settings: StatsSettings;
  readonly paths: PodPaths;
  /** What the machine is; it stays that. */
  readonly facts: MachineFacts;
  readonly cgroups: CgroupReader;
  readonly machine: MachineReader;
  readonly disk: Disk;
  readonly runtime: StatsRuntime;
  readonly pods: StatsPods;
  readonly volumesOf: VolumesOf;
  readonly volumeDisks: VolumeDisks;
  readonly drivers: DriverUsages;
  /** Called with the duration of each measurement of a volume. */
  readonly volumeMeasured: (source: VolumeSource, seconds: number) => void;
}
