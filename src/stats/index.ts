export { MeasuredVolumes } from './measured-volumes.ts';
export type {
  CgroupReader,
  ClaimUsage,
  Disk,
  DriverFigures,
  LogSize,
  MachineReader,
  PodStorageUsage,
  PodVolume,
  SeenPod,
  StatsPods,
  StatsRuntime,
  TreeSize,
  UsageDepth,
  VolumeDisks,
  VolumeSource,
  VolumesOf,
  VolumeUsage,
} from './ports.ts';
export type { StatsDeps, StatsSettings } from './stats-deps.ts';
export { Stats } from './stats.ts';
export type { CgroupPlaces } from './targets.ts';
