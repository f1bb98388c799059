export { measuredVolumes } from './measured-volumes.ts';
export type {
  CgroupReader,
  Disk,
  LogSize,
  MachineReader,
  PodVolume,
  SeenPod,
  StatsPods,
  StatsRuntime,
  TreeSize,
  UsageDepth,
  VolumeSource,
  VolumesOf,
} from './ports.ts';
export { Stats, type StatsDeps, type StatsSettings } from './stats.ts';
export type { CgroupPlaces } from './targets.ts';
