import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../base/ids.ts';
import { Limiter } from '../base/limiter.ts';
import type { Log } from '../base/log.ts';
import { jitter, type Random } from '../base/random.ts';
import { podFields } from '../model/pod-log.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import type { PerPodState } from '../model/pod-removal.ts';
import type { TreeSize } from '../model/usage.ts';
import { RefreshingCache } from './refreshing-cache.ts';
import type { Disk } from './ports.ts';
import type { PodTarget } from './targets.ts';
import type { MeasuredVolume, RenewalOptions, VolumeUsages } from './volume-usages.ts';

interface DiskStatsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly disk: Disk;
  readonly paths: PodPaths;
  readonly volumeUsages: VolumeUsages;
  /** How long sizes of volumes serve; at or below 0 they are not measured for pages. */
  readonly volumePeriodMs: number;
}

export interface PodLogs {
  readonly at: number;
  /** By container name. */
  readonly containers: ReadonlyMap<string, TreeSize>;
  /** Files beside those of containers. */
  readonly others: TreeSize;
}

/** What else the agent keeps for a pod. */
export interface PodFolders {
  /** Its hosts file and the last words of its containers. */
  readonly files: TreeSize;
  readonly volumes: readonly MeasuredVolume[];
}

interface PodSizes {
  readonly logs: RefreshingCache<PodLogs>;
  readonly files: RefreshingCache<TreeSize>;
}

/** How long sizes serve where volumes, and with them their period, are not wanted. */
const usualPeriodMs = 60_000;
/** The agent's own files of a pod are few and small; eviction says how old they may be. */
const filePeriods = 5;
/** So that after a while not all pods are measured for the same page. */
const jitterFraction = 1;
/** The node's own disk is asked by few at a time: others need its threads too. */
const together = 2;

/** What pods take on disks, measured when a page or eviction asks and the last sizes are too old. */
export class DiskStats implements PerPodState {
  readonly #deps: DiskStatsDeps;
  readonly #pods = new Map<PodUid, PodSizes>();
  readonly #lane = new Limiter(together);
  readonly #volumes: VolumeUsages;
  readonly #usualOptions: RenewalOptions;

  constructor(deps: DiskStatsDeps) {
    this.#deps = deps;
    this.#volumes = deps.volumeUsages;
    this.#usualOptions = { keepMs: this.#keepMs };
  }

  forget(uid: PodUid): void {
    this.#pods.delete(uid);
  }

  size(): number {
    return this.#pods.size;
  }

  logs(uid: PodUid): PodLogs | undefined {
    return this.#pods.get(uid)?.logs.value;
  }

  folders(uid: PodUid): PodFolders | undefined {
    const known = this.#pods.get(uid);
    return known && { files: known.files.value ?? { bytes: 0, inodes: 0 }, volumes: this.#volumes.of(uid) };
  }

  /** What is known of the volumes of all pods. */
  volumes(): readonly MeasuredVolume[] {
    return [...this.#pods.keys()].flatMap((uid) => this.#volumes.of(uid));
  }

  /** Measures what is too old, and forgets all other pods. The promises never reject. */
  renew(pods: readonly PodTarget[], signal: AbortSignal): readonly (Promise<void> | undefined)[] {
    this.#forgetOthers(pods);
    const works: (Promise<void> | undefined)[] = [];
    for (const pod of pods) {
      works.push(this.#renewLogs(pod, signal), this.#renewFiles(pod, signal));
      for (const work of this.#renewVolumes(pod, signal)) works.push(work);
    }
    return works;
  }

  /** The same for logs alone. */
  renewLogs(pods: readonly PodTarget[], signal: AbortSignal): readonly (Promise<void> | undefined)[] {
    this.#forgetOthers(pods);
    return pods.map((pod) => this.#renewLogs(pod, signal));
  }

  /** The same for volumes of claims alone. */
  renewClaims(pods: readonly PodTarget[], signal: AbortSignal): readonly (Promise<void> | undefined)[] {
    this.#forgetOthers(pods);
    return pods.flatMap((pod) => this.#renewVolumes(pod, signal, { only: ({ pvc }) => pvc !== undefined }));
  }

  /** One pod, with values that are not older than this; other pods are not forgotten. Volumes from elsewhere are left out. */
  renewOne(
    pod: PodTarget,
    { maxAgeMs, onlyVolumes }: { readonly maxAgeMs: number; readonly onlyVolumes: boolean },
    signal: AbortSignal,
  ): readonly (Promise<void> | undefined)[] {
    return [
      ...this.#renewVolumes(pod, signal, { maxAgeMs, only: ({ origin }) => origin === undefined }),
      ...(onlyVolumes ? [] : [this.#renewLogs(pod, signal, maxAgeMs), this.#renewFiles(pod, signal, maxAgeMs)]),
    ];
  }

  #forgetOthers(pods: readonly PodTarget[]): void {
    const present = new Set<PodUid>();
    for (const { uid } of pods) present.add(uid);
    for (const uid of this.#pods.keys()) if (!present.has(uid)) this.#pods.delete(uid);
    this.#volumes.keepOnly(present);
  }

  #renewLogs(pod: PodTarget, signal: AbortSignal, maxAgeMs?: number): Promise<void> | undefined {
    const { logs } = this.#sizesOf(pod.uid);
    if (logs.serves(maxAgeMs)) return undefined;
    const measure = (): Promise<PodLogs> => this.#lane.run(() => this.#measureLogs(pod, signal), signal);
    return logs.renew(this.#keepMs(), measure, this.#failed(pod, signal), maxAgeMs);
  }

  #renewFiles(pod: PodTarget, signal: AbortSignal, maxAgeMs?: number): Promise<void> | undefined {
    const { uid } = pod;
    const { files } = this.#sizesOf(uid);
    if (files.serves(maxAgeMs)) return undefined;
    const measure = (): Promise<TreeSize> => this.#lane.run(() => this.#measureFiles(uid, signal), signal);
    return files.renew(filePeriods * this.#keepMs(), measure, this.#failed(pod, signal), maxAgeMs);
  }

  #renewVolumes(
    pod: PodTarget,
    signal: AbortSignal,
    options?: Omit<RenewalOptions, 'keepMs'>,
  ): readonly (Promise<void> | undefined)[] {
    // Limits are enforced also where volumes are not measured for pages.
    if (this.#deps.volumePeriodMs <= 0 && options?.maxAgeMs === undefined) return [];
    this.#sizesOf(pod.uid);
    return this.#volumes.renew(
      pod,
      options === undefined ? this.#usualOptions : { ...options, ...this.#usualOptions },
      signal,
    );
  }

  #sizesOf(uid: PodUid): PodSizes {
    const { clock } = this.#deps;
    const known = this.#pods.get(uid);
    if (known !== undefined) return known;
    const values = { logs: new RefreshingCache<PodLogs>(clock), files: new RefreshingCache<TreeSize>(clock) };
    this.#pods.set(uid, values);
    return values;
  }

  readonly #keepMs = (): number => {
    const { random, volumePeriodMs } = this.#deps;
    return jitter(random, volumePeriodMs > 0 ? volumePeriodMs : usualPeriodMs, jitterFraction);
  };

  #failed(pod: PodTarget, signal: AbortSignal): (error: unknown) => void {
    return (error) => {
      if (!signal.aborted) this.#deps.log.error(error, 'Cannot measure what a pod takes on disk', podFields(pod));
    };
  }

  async #measureLogs(pod: PodTarget, signal: AbortSignal): Promise<PodLogs> {
    const { clock, disk, paths } = this.#deps;
    const { files, folders } = await disk.folders(paths.podLogs(pod), signal);
    return { at: clock.now(), containers: folders, others: files };
  }

  /** Containers write their last words to files of ours, as much as they like: they count, or a limit could be walked around. */
  async #measureFiles(uid: PodUid, signal: AbortSignal): Promise<TreeSize> {
    const { disk, paths } = this.#deps;
    const hosts = await disk.tree(paths.etcHosts(uid), signal);
    const { folders } = await disk.folders(join(paths.pod(uid), 'containers'), signal);
    return [...folders.values()].reduce(
      (sum, { bytes, inodes }) => ({ bytes: sum.bytes + bytes, inodes: sum.inodes + inodes }),
      hosts,
    );
  }
}
