import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import { podPaths } from '../model/pod-paths.ts';
import type { PodRemoval } from '../model/pod-removal.ts';
import type { MachineFacts, UsageSnapshot } from '../model/usage.ts';
import { volumesOfPods, type MountedVolumes } from './measured-volumes.ts';
import type {
  CgroupReader,
  Disk,
  DriverUsages,
  MachineReader,
  StatsRuntime,
  UsageDepth,
  VolumeDisks,
} from './ports.ts';
import { scrapedUsage } from './scraped-usage.ts';
import { SeenPods, type PodsOnNode } from './seen-pods.ts';
import type { StatsSettings } from './stats-deps.ts';
import { StatsMetrics } from './stats-metrics.ts';
import { Stats } from './stats.ts';
import type { CgroupLayout } from './targets.ts';

export interface StatsRootSettings extends Omit<StatsSettings, 'cgroupLayout'> {
  readonly podLogsDir: string;
  readonly cgroupLayout: Omit<CgroupLayout, 'kubeletCgroups'>;
}

/** The machine as far as usage is read from it. */
export interface StatsHost {
  /** What the machine is; it stays that. */
  readonly facts: MachineFacts;
  readonly cgroups: CgroupReader;
  readonly machine: MachineReader;
  readonly disk: Disk;
  readonly volumeDisks: VolumeDisks;
}

interface StatsRootDeps {
  readonly ports: CommonPorts;
  readonly settings: StatsRootSettings;
  readonly podRemoval: PodRemoval;
  readonly host: StatsHost;
  readonly runtime: StatsRuntime;
  /** The cgroup of the agent itself, which is not the same for ever. */
  readonly agentCgroup: { path(): string };
  readonly pods: PodsOnNode;
  readonly volumes: MountedVolumes;
  /** What storage drivers say of their volumes. */
  readonly drivers: DriverUsages;
  /** The metrics page, which waits until what it shows was measured. */
  readonly page: { beforePage(prepare: () => Promise<void>): void };
}

export interface StatsParts {
  readonly components: readonly Component[];
  readonly stats: Pick<Stats, 'summary' | 'snapshot' | 'storage' | 'machine'>;
  /** The usage for a page of values; undefined where it cannot be had, which has been logged then. */
  readonly usageForPage: (depth: UsageDepth, signal: AbortSignal) => Promise<UsageSnapshot | undefined>;
}

/** What the node and its pods use. */
export function createStats(deps: StatsRootDeps): StatsParts {
  const { ports, settings, podRemoval, host, runtime, agentCgroup, pods, volumes, drivers, page } = deps;
  const { log } = ports;
  const measured = new StatsMetrics(ports.metrics);
  const cgroupLayout: CgroupLayout = {
    ...settings.cgroupLayout,
    get kubeletCgroups() {
      return agentCgroup.path();
    },
  };
  const stats = new Stats({
    ...ports,
    ...host,
    settings: { ...settings, cgroupLayout },
    paths: podPaths(settings.rootDir, settings.podLogsDir),
    runtime,
    pods: new SeenPods(pods),
    volumesOf: volumesOfPods(pods, volumes),
    drivers,
    volumeMeasured: (source, seconds) => measured.volumeMeasured(source, seconds),
  });
  for (const [name, state] of Object.entries(stats.perPod)) podRemoval.register(`stats/${name}`, state);
  page.beforePage(() => measured.prepare(stats));
  return {
    components: [stats],
    stats,
    usageForPage: (depth, signal) => scrapedUsage({ stats, log }, depth, signal),
  };
}
