import type { Clock } from '../base/clock.ts';
import type { PodUid } from '../base/ids.ts';
import { Limiter } from '../base/limiter.ts';
import type { Log } from '../base/log.ts';
import { jitter, type Random } from '../base/random.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import type { FilesystemUsage } from '../model/usage.ts';
import { Kept } from './kept.ts';
import type { Disk, PodVolume, TreeSize, VolumeSource, VolumesOf } from './ports.ts';
import type { PodTarget } from './targets.ts';

export interface DiskFiguresDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly disk: Disk;
  readonly paths: PodPaths;
  readonly volumesOf: VolumesOf;
  /** How long sizes of volumes serve; below or at 0 nobody wants them. */
  readonly volumePeriodMs: number;
  /** Told how long it took each time. */
  readonly volumeMeasured?: (source: VolumeSource, seconds: number) => void;
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
  readonly hosts: TreeSize;
  readonly volumes: readonly VolumeFigures[];
}

export interface VolumeFigures {
  readonly volume: PodVolume;
  readonly usage: FilesystemUsage;
}

interface PodFigures {
  readonly logs: Kept<PodLogs>;
  readonly folders: Kept<PodFolders>;
  /** Whether a path is a mount point; that stays as it is while the volume is there. */
  readonly mountPoints: Map<string, boolean>;
}

/** How long sizes serve where volumes, and with them their period, are not wanted. */
const usualPeriodMs = 60_000;
/** So that after a while not all pods are measured for the same page. */
const jitterFraction = 1;
/**
 * Few at a time: a file system that does not answer takes a thread for ever, and the process has four of them. Logs have a
 * lane of their own, because they are always on the node's own disk.
 */
const lanes = { logs: 2, volumes: 2 };

/** What pods take on disks, measured when somebody asks and what is known has grown old. */
export class DiskFigures {
  readonly #deps: DiskFiguresDeps;
  readonly #pods = new Map<PodUid, PodFigures>();
  readonly #logLane = new Limiter(lanes.logs);
  readonly #volumeLane = new Limiter(lanes.volumes);

  constructor(deps: DiskFiguresDeps) {
    this.#deps = deps;
  }

  logs(uid: PodUid): PodLogs | undefined {
    return this.#pods.get(uid)?.logs.value;
  }

  folders(uid: PodUid): PodFolders | undefined {
    return this.#pods.get(uid)?.folders.value;
  }

  /** Measures what is too old, and forgets all other pods. The promises never reject. */
  renew(pods: readonly PodTarget[], signal: AbortSignal): readonly (Promise<void> | undefined)[] {
    this.#forgetOthers(pods);
    return pods.flatMap((pod) => [this.#renewLogs(pod, signal), this.#renewFolders(pod.uid, signal)]);
  }

  /** The same for logs alone. */
  renewLogs(pods: readonly PodTarget[], signal: AbortSignal): readonly (Promise<void> | undefined)[] {
    this.#forgetOthers(pods);
    return pods.map((pod) => this.#renewLogs(pod, signal));
  }

  #forgetOthers(pods: readonly PodTarget[]): void {
    const present = new Set(pods.map(({ uid }) => uid));
    for (const uid of this.#pods.keys()) if (!present.has(uid)) this.#pods.delete(uid);
  }

  #renewLogs(pod: PodTarget, signal: AbortSignal): Promise<void> | undefined {
    const measure = (): Promise<PodLogs> => this.#logLane.run(() => this.#measureLogs(pod, signal), signal);
    return this.#figuresOf(pod.uid).logs.renew(this.#keepMs(), measure, this.#failed(pod.uid, signal));
  }

  #renewFolders(uid: PodUid, signal: AbortSignal): Promise<void> | undefined {
    const { folders, mountPoints } = this.#figuresOf(uid);
    const measure = (): Promise<PodFolders> => this.#measureFolders(uid, mountPoints, signal);
    return folders.renew(this.#keepMs(), measure, this.#failed(uid, signal));
  }

  #figuresOf(uid: PodUid): PodFigures {
    const { clock } = this.#deps;
    const figures = this.#pods.get(uid) ?? {
      logs: new Kept(clock),
      folders: new Kept(clock),
      mountPoints: new Map(),
    };
    this.#pods.set(uid, figures);
    return figures;
  }

  #keepMs(): number {
    const { random, volumePeriodMs } = this.#deps;
    return jitter(random, volumePeriodMs > 0 ? volumePeriodMs : usualPeriodMs, jitterFraction);
  }

  #failed(podUID: PodUid, signal: AbortSignal): (error: unknown) => void {
    return (error) => {
      if (!signal.aborted) this.#deps.log.error(error, 'Cannot measure what a pod takes on disk', { podUID });
    };
  }

  async #measureLogs(pod: PodTarget, signal: AbortSignal): Promise<PodLogs> {
    const { clock, disk, paths } = this.#deps;
    const { files, folders } = await disk.folders(paths.podLogs(pod), signal);
    return { at: clock.now(), containers: folders, others: files };
  }

  async #measureFolders(uid: PodUid, mountPoints: Map<string, boolean>, signal: AbortSignal): Promise<PodFolders> {
    const { disk, paths, volumePeriodMs } = this.#deps;
    const [hosts, volumes] = await Promise.all([
      this.#logLane.run(() => disk.tree(paths.etcHosts(uid), signal), signal),
      volumePeriodMs > 0 ? this.#measureVolumes(uid, mountPoints, signal) : [],
    ]);
    return { hosts, volumes };
  }

  /** One that cannot be measured is left out; the others are not. */
  async #measureVolumes(
    uid: PodUid,
    mountPoints: Map<string, boolean>,
    signal: AbortSignal,
  ): Promise<readonly VolumeFigures[]> {
    const each = this.#deps.volumesOf(uid).map(async (volume) => {
      try {
        const usage = await this.#volumeLane.run(() => this.#measureVolume(volume, mountPoints, signal), signal);
        return [{ volume, usage }];
      } catch (error) {
        signal.throwIfAborted();
        this.#deps.log.error(error, 'Cannot measure a volume', { podUID: uid, volume: volume.name });
        return [];
      }
    });
    return (await Promise.all(each)).flat();
  }

  /** A file system of its own tells what is used on it; a folder of the node's has to be walked through. */
  async #measureVolume(
    { path, pvc }: PodVolume,
    mountPoints: Map<string, boolean>,
    signal: AbortSignal,
  ): Promise<FilesystemUsage> {
    const { clock, disk, volumeMeasured } = this.#deps;
    const began = clock.monotonic();
    const isOwn = pvc !== undefined || (mountPoints.get(path) ?? (await disk.isMountPoint(path)));
    mountPoints.set(path, isOwn);
    const filesystem = await disk.filesystem(path);
    const told = (source: VolumeSource): void => volumeMeasured?.(source, (clock.monotonic() - began) / 1_000);
    if (isOwn) {
      told('statfs');
      return filesystem;
    }
    const { bytes, inodes } = await disk.tree(path, signal);
    told('du');
    return { ...filesystem, used: bytes, inodesUsed: inodes };
  }
}
