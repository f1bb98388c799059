import { linkedSignal, raceAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../base/ids.ts';
import { Limiter } from '../base/limiter.ts';
import type { Log } from '../base/log.ts';
import { podFields, type LoggedPod } from '../model/pod-log.ts';
import type { PerPodState } from '../model/pod-removal.ts';
import type { FilesystemUsage } from '../model/usage.ts';
import { RefreshingCache } from './refreshing-cache.ts';
import type { Disk, DriverUsages, PodVolume, VolumeDisks, VolumeSource, VolumesOf, VolumeUsage } from './ports.ts';

interface VolumeUsagesDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly disk: Disk;
  readonly volumesOf: VolumesOf;
  readonly volumeDisks: VolumeDisks;
  readonly drivers: DriverUsages;
  /** Called with the duration of each measurement. */
  readonly volumeMeasured: (source: VolumeSource, seconds: number) => void;
}

export interface MeasuredVolume {
  readonly volume: PodVolume;
  readonly usage: VolumeUsage;
}

/** A pod as its volumes are asked for. */
interface MeasuredPod extends LoggedPod {
  readonly uid: PodUid;
}

/** When a volume is measured anew. */
export interface RenewalOptions {
  /** For how long what is found now will serve. */
  readonly keepMs: () => number;
  /** What is older counts as unknown, however long it was to serve. */
  readonly maxAgeMs?: number;
  readonly only?: (volume: PodVolume) => boolean;
}

interface KnownVolume {
  volume: PodVolume;
  readonly usage: RefreshingCache<VolumeUsage>;
  /** Whether it is a file system of its own, or one that others answer for; that stays as it is while the volume is there. */
  isOwn?: boolean;
  isDistant?: boolean;
  /** How long it took the last time. */
  tookMs: number;
  /** It could not be measured the last time: pages do not wait for another try. */
  hasFailed: boolean;
}

const noWorks: readonly Promise<void>[] = [];

/**
 * Few at a time: a disk that does not answer takes a thread for ever, and the process has sixteen of them. A walk
 * through folders of the node's own disk never waits for another disk.
 */
const lanes = { walks: 2, ownDisks: 4, distant: 4 };
/** For so long a distant file system counts among those that are asked. */
const distantMs = 5_000;
/** A volume whose measuring takes long is measured less often: so many times as long lies between two measurements. */
const maxMeasuringShare = 20;

/**
 * What is in the volumes of pods, each for itself: one that hangs takes nothing from the others, and is not asked again
 * before it has answered.
 */
export class VolumeUsages implements PerPodState {
  readonly #deps: VolumeUsagesDeps;
  readonly #pods = new Map<PodUid, readonly KnownVolume[]>();
  readonly #walks = new Limiter(lanes.walks);
  readonly #ownDisks = new Limiter(lanes.ownDisks);
  readonly #distant = new Limiter(lanes.distant);

  constructor(deps: VolumeUsagesDeps) {
    this.#deps = deps;
  }

  /** As last measured, in the order of the pod's spec; those that could not be measured are left out. */
  of(uid: PodUid): readonly MeasuredVolume[] {
    const found: MeasuredVolume[] = [];
    for (const { volume, usage } of this.#pods.get(uid) ?? []) {
      if (usage.value !== undefined) found.push({ volume, usage: usage.value });
    }
    return found;
  }

  forget(uid: PodUid): void {
    this.#pods.delete(uid);
  }

  size(): number {
    return this.#pods.size;
  }

  keepOnly(uids: ReadonlySet<PodUid>): void {
    for (const uid of this.#pods.keys()) if (!uids.has(uid)) this.#pods.delete(uid);
  }

  /** Measures what is too old. The promises never reject. */
  renew(pod: MeasuredPod, options: RenewalOptions, signal: AbortSignal): readonly (Promise<void> | undefined)[] {
    const { uid } = pod;
    const { keepMs, maxAgeMs, only } = options;
    let works: (Promise<void> | undefined)[] | undefined;
    for (const known of this.#knownOf(uid)) {
      if (only?.(known.volume) === false) continue;
      const ageMs = maxAgeMs === undefined ? undefined : Math.max(maxAgeMs, known.tookMs * maxMeasuringShare);
      if (known.usage.serves(ageMs)) continue;
      const measure = async (): Promise<VolumeUsage> => {
        const usage = await this.#measure(uid, known, signal);
        known.hasFailed = false;
        return usage;
      };
      const work = known.usage.renew(keepMs(), measure, (error) => this.#failed(pod, known, error, signal), ageMs);
      if (!known.hasFailed) (works ??= []).push(work);
    }
    return works ?? noWorks;
  }

  /** Said once, until it has been measured again. */
  #failed(pod: MeasuredPod, known: KnownVolume, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const fields = { ...podFields(pod), volume: known.volume.name };
    if (!known.hasFailed) this.#deps.log.error(error, 'Cannot measure a volume', fields);
    known.hasFailed = true;
  }

  /** The pod's volumes as they are now; those that were removed are forgotten. */
  #knownOf(uid: PodUid): readonly KnownVolume[] {
    const before = this.#pods.get(uid);
    const known = this.#deps.volumesOf(uid).map((volume): KnownVolume => {
      const same = before?.find(({ volume: { name, path } }) => name === volume.name && path === volume.path);
      return same === undefined
        ? { volume, usage: new RefreshingCache(this.#deps.clock), tookMs: 0, hasFailed: false }
        : Object.assign(same, { volume });
    });
    this.#pods.set(uid, known);
    return known;
  }

  #measure(uid: PodUid, known: KnownVolume, signal: AbortSignal): Promise<VolumeUsage> {
    const { origin, path } = known.volume;
    // A pod may have mounted something over its own volume that others see.
    const isForeign = origin !== undefined || this.#deps.volumeDisks.isDistant(path);
    if (isForeign) return this.#measureForeign(uid, known, signal);
    return this.#walks.run(() => this.#measureOwn(known, signal), signal);
  }

  /** A file system in memory reports what is used on it; a folder of the node's disk has to be walked through. */
  async #measureOwn(known: KnownVolume, signal: AbortSignal): Promise<VolumeUsage> {
    const { disk } = this.#deps;
    const { path } = known.volume;
    const reported = this.#stopwatch(known);
    known.isOwn ??= await disk.isMountPoint(path);
    const filesystem = await disk.filesystem(path);
    if (known.isOwn) {
      reported('statfs');
      return filesystem;
    }
    const { bytes, inodes } = await disk.tree(path, signal);
    reported('du');
    return { ...filesystem, used: bytes, inodesUsed: inodes };
  }

  /** By the driver, which knows best; else by the file system or the device. */
  async #measureForeign(uid: PodUid, known: KnownVolume, signal: AbortSignal): Promise<VolumeUsage> {
    const { clock, drivers, disk, volumeDisks } = this.#deps;
    const { name, path, origin } = known.volume;
    const reportByDriver = this.#stopwatch(known);
    const answer = await drivers.volumeUsage({ uid, name, path }, signal);
    if (answer !== undefined) {
      reportByDriver(answer.driver);
      return answer.usage;
    }
    if (origin === 'device') {
      const reported = this.#stopwatch(known);
      const capacity = await volumeDisks.deviceBytes(path);
      reported('block');
      return { ...nothingKnown, at: clock.now(), capacity };
    }
    known.isDistant ??= volumeDisks.isDistant(path);
    const ask = async (): Promise<FilesystemUsage> => {
      const reported = this.#stopwatch(known);
      const usage = await (known.isDistant === true ? this.#askDistant(path, signal) : disk.filesystem(path));
      reported('statfs');
      return usage;
    };
    return known.isDistant ? ask() : this.#ownDisks.run(ask, signal);
  }

  /** Makes room for the next after a while, but ends only when the asking process has: requests to a dead server do not pile up. */
  async #askDistant(path: string, signal: AbortSignal): Promise<FilesystemUsage> {
    const { clock, volumeDisks } = this.#deps;
    let asked: Promise<FilesystemUsage> | undefined;
    try {
      return await this.#distant.run(async () => {
        const limit = linkedSignal(signal, { clock, ms: distantMs });
        try {
          asked = volumeDisks.distantFilesystem(path, limit.signal);
          return await raceAbort(asked, limit.signal);
        } finally {
          limit.release();
        }
      }, signal);
    } catch (error) {
      await asked?.catch(() => undefined);
      throw error;
    }
  }

  #stopwatch(known: KnownVolume): (source: VolumeSource) => void {
    const { clock, volumeMeasured } = this.#deps;
    const began = clock.monotonic();
    return (source) => {
      known.tookMs = clock.monotonic() - began;
      volumeMeasured(source, known.tookMs / 1_000);
    };
  }
}

const nothingKnown: Omit<FilesystemUsage, 'at'> = {
  capacity: undefined,
  available: undefined,
  used: undefined,
  inodes: undefined,
  inodesFree: undefined,
  inodesUsed: undefined,
};
