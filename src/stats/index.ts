export {
  createStats,
  type StatsHost,
  type StatsParts,
  type StatsRootDeps,
  type StatsRootSettings,
} from './create-stats.ts';
export { MeasuredVolumes, type MountedVolumes } from './measured-volumes.ts';
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
export { scrapedUsage } from './scraped-usage.ts';
export { SeenPods, type PodsOnNode } from './seen-pods.ts';
export { StatsMetrics } from './stats-metrics.ts';
export type { StatsDeps, StatsSettings } from './stats-deps.ts';
export { Stats } from './stats.ts';
export type { CgroupPlaces } from './targets.ts';
