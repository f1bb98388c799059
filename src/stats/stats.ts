import type { Component } from '../base/component.ts';
import type { PodUid } from '../base/ids.ts';
import type { PerPodState } from '../model/pod-removal.ts';
import type { Summary } from '../model/stats-summary.ts';
import type { FilesystemUsage, MachineFacts, UsageSnapshot, PodStorageUsage } from '../model/usage.ts';
import { buildSummary } from './build-summary.ts';
import { claimUsages } from './claim-usages.ts';
import { ContainerCgroups } from './container-cgroups.ts';
import { DiskStats } from './disk-stats.ts';
import { RefreshingCache, shortTimeoutMs, waitAtMost } from './refreshing-cache.ts';
import { PodNetworks } from './pod-networks.ts';
import type { ClaimUsage, LogSize, UsageDepth } from './ports.ts';
import { RuntimeUsageSource } from './runtime-usage.ts';
import { Sampler, type CoreSample, type PodSample } from './sampler.ts';
import { CoalescedRequests } from './coalesced-requests.ts';
import { coreSnapshot, Snapshots } from './snapshots.ts';
import type { StatsDeps } from './stats-deps.ts';
import type { PodExtras, SummaryExtras, SummaryNode } from './summary-input.ts';
import { podStorage, storageUsage } from './summary-storage.ts';
import { podTargets, type PodTarget } from './targets.ts';
import { yieldBetweenChunks } from './yield-between-chunks.ts';
import { VolumeUsages } from './volume-usages.ts';

/** A request within this time gets the answer of the one before. */
const keepMs = 1_000;
const diskKeepMs = 10_000;
/** Eviction asks every ten seconds, not to the millisecond. */
const storageAgeMs = 9_000;
/** About two milliseconds' worth of networks and counts of processes. */
const podsPerChunk = 64;

/**
 * What the node, its pods and containers use. Nothing is read without a request. From one request to the next it remembers
 * sizes on disks, the runtime's answer, and for rates how much processor time had been used.
 */
export class Stats implements Component {
  readonly name = 'stats';
  /** What is kept per pod, by name. */
  readonly perPod: Readonly<Record<'disk-stats' | 'volume-usages', PerPodState>>;
  readonly #deps: StatsDeps;
  readonly #shared: CoalescedRequests;
  readonly #sampler: Sampler;
  readonly #snapshots: Snapshots;
  readonly #runtime: RuntimeUsageSource;
  readonly #disk: DiskStats;
  readonly #networks: PodNetworks;
  readonly #rootFs: RefreshingCache<FilesystemUsage>;
  readonly #filesystems: RefreshingCache<readonly FilesystemUsage[]>;
  readonly #stopped = new AbortController();

  constructor(deps: StatsDeps) {
    const { clock, settings } = deps;
    const { cgroupLayout, volumePeriodMs } = settings;
    this.#deps = deps;
    this.#shared = new CoalescedRequests(clock, keepMs);
    this.#rootFs = new RefreshingCache(clock);
    this.#filesystems = new RefreshingCache(clock);
    const common = { ...deps, cgroupLayout, targets: () => this.#targets(), containerCgroups: new ContainerCgroups() };
    this.#networks = new PodNetworks(common);
    this.#sampler = new Sampler(common);
    this.#snapshots = new Snapshots({ ...common, networks: this.#networks, pressure: settings.pressure });
    this.#runtime = new RuntimeUsageSource(deps);
    const volumeUsages = new VolumeUsages(deps);
    this.#disk = new DiskStats({ ...deps, volumeUsages, volumePeriodMs });
    this.perPod = { 'disk-stats': this.#disk, 'volume-usages': volumeUsages };
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#shared.close();
    this.#deps.cgroups.close();
  }

  /** The page /stats/summary. */
  summary({ onlyCpuAndMemory }: { readonly onlyCpuAndMemory: boolean }, signal: AbortSignal): Promise<Summary> {
    return onlyCpuAndMemory
      ? this.#shared.ask('small summary', () => this.#smallSummary(), signal)
      : this.#shared.ask('whole summary', () => this.#wholeSummary(), signal);
  }

  /**
   * Every cgroup that people ask about. At depth `core` there are the node, the services, pods and containers with CPU,
   * memory and swap alone, which is what /metrics/resource needs, at a quarter of the cost.
   */
  snapshot(signal: AbortSignal, depth: UsageDepth = 'everything'): Promise<UsageSnapshot> {
    return depth === 'core'
      ? this.#shared.ask('core snapshot', async () => coreSnapshot(await this.#sample()), signal)
      : this.#shared.ask('snapshot', () => this.#wholeSnapshot(), signal);
  }

  /** What the logs of containers that run take on the disk, as far as that is known soon. */
  async logs(): Promise<readonly LogSize[]> {
    const targets = this.#targets();
    await waitAtMost(this.#deps.clock, this.#disk.renewLogs(targets, this.#stopped.signal), shortTimeoutMs);
    return targets.flatMap(({ uid, namespace, name: pod, containers }) =>
      containers.flatMap(({ name: container }) => {
        const size = this.#disk.logs(uid)?.containers.get(container);
        return size === undefined ? [] : [{ uid, namespace, pod, container, bytes: size.bytes }];
      }),
    );
  }

  /** What is in the volumes of claims, as far as that is known soon. */
  async claims(): Promise<readonly ClaimUsage[]> {
    const targets = this.#targets();
    await waitAtMost(this.#deps.clock, this.#disk.renewClaims(targets, this.#stopped.signal), shortTimeoutMs);
    return claimUsages(this.#disk.volumes());
  }

  /**
   * What these pods take of the node's disks, as it was within the last ten seconds; a volume that takes long to walk
   * through is walked through less often. Pods of which nothing runs are left out.
   */
  async storage(scopes: ReadonlyMap<PodUid, 'volumes' | 'everything'>): Promise<ReadonlyMap<PodUid, PodStorageUsage>> {
    const { clock, disk, settings } = this.#deps;
    const { signal } = this.#stopped;
    const targets = this.#targets().filter(({ uid }) => scopes.has(uid));
    const works = targets.flatMap((target) => {
      const onlyVolumes = scopes.get(target.uid) === 'volumes';
      return this.#disk.renewOne(target, { maxAgeMs: storageAgeMs, onlyVolumes }, signal);
    });
    // The runtime asks every container to answer this.
    const wantsLayers = targets.some(({ uid }) => scopes.get(uid) === 'everything');
    await waitAtMost(clock, [
      ...works,
      this.#renewRootFs(),
      wantsLayers ? this.#runtime.renew(signal, storageAgeMs) : undefined,
    ]);
    const runtime = this.#runtime.value;
    const layersOnNodeDisk = runtime?.imageFs?.device === disk.device(settings.rootDir);
    const extras = { at: clock.now(), rootFs: this.#rootFs.value, runtime };
    return new Map(
      targets.map(({ uid, containers }) => {
        const found = { logs: this.#disk.logs(uid), folders: this.#disk.folders(uid) };
        const samples = containers.map((target) => ({ target }));
        return [uid, storageUsage(podStorage(samples, found, extras), containers, layersOnNodeDisk)];
      }),
    );
  }

  machine(): MachineFacts {
    return this.#deps.facts;
  }

  #sample(): Promise<CoreSample> {
    const { signal } = this.#stopped;
    return this.#shared.ask('sample', () => this.#sampler.sample(signal), signal);
  }

  async #smallSummary(): Promise<Summary> {
    return buildSummary(await this.#sample(), this.#node());
  }

  async #wholeSummary(): Promise<Summary> {
    const { clock, machine } = this.#deps;
    const { signal } = this.#stopped;
    const sample = await this.#sample();
    const targets = sample.pods.map(({ target }) => target);
    await waitAtMost(clock, [this.#renewRootFs(), this.#runtime.renew(signal), ...this.#disk.renew(targets, signal)]);
    const pods: PodExtras[] = [];
    for (let from = 0; from < sample.pods.length; from += podsPerChunk) {
      await yieldBetweenChunks(from, signal);
      for (const pod of sample.pods.slice(from, from + podsPerChunk)) pods.push(this.#podExtras(pod));
    }
    const extras: SummaryExtras = {
      at: clock.now(),
      network: machine.interfaces('self'),
      rootFs: this.#rootFs.value,
      runtime: this.#runtime.value,
      threads: machine.threads(),
      pods,
    };
    return buildSummary(sample, this.#node(), extras);
  }

  #targets(): readonly PodTarget[] {
    const { pods, settings } = this.#deps;
    return podTargets(pods, settings.cgroupLayout);
  }

  #node(): SummaryNode {
    const { settings, facts, machine } = this.#deps;
    return {
      name: settings.nodeName,
      bootedAt: machine.bootTime() ?? 0,
      memoryBytes: facts.memoryBytes,
      swapFree: machine.memory().swapFree,
      pressure: settings.pressure,
    };
  }

  #renewRootFs(): Promise<void> | undefined {
    const { disk, settings } = this.#deps;
    return this.#rootFs.renew(keepMs, () => disk.filesystem(settings.rootDir), this.#diskFailed);
  }

  async #wholeSnapshot(): Promise<UsageSnapshot> {
    const { signal } = this.#stopped;
    const filesystems = this.#filesystems.renew(diskKeepMs, () => this.#deps.disk.filesystems(), this.#diskFailed);
    // Scrapers have short timeouts, and sizes grow slowly.
    const isKnown = this.#runtime.value !== undefined && this.#filesystems.value !== undefined;
    await waitAtMost(
      this.#deps.clock,
      [filesystems, this.#runtime.renew(signal)],
      isKnown ? shortTimeoutMs : undefined,
    );
    return this.#snapshots.take(this.#runtime.value, this.#filesystems.value ?? [], signal);
  }

  #podExtras({ target, containers }: PodSample): PodExtras {
    let processes = 0;
    for (const { usage } of containers) processes += this.#deps.cgroups.processes(usage.path).length;
    return {
      network: this.#networks.of(target, containers),
      processes,
      logs: this.#disk.logs(target.uid),
      folders: this.#disk.folders(target.uid),
    };
  }

  readonly #diskFailed = (error: unknown): void => {
    this.#deps.log.error(error, 'Cannot read the usage of the disks of the node');
  };
}
