import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { FilesystemUsage as CriFilesystem } from '../gen/cri/api.ts';
import type { FilesystemUsage } from '../model/usage.ts';
import { RefreshingCache } from './refreshing-cache.ts';
import type { Disk, StatsRuntime } from './ports.ts';

interface RuntimeUsageSourceDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly runtime: StatsRuntime;
  readonly disk: Disk;
}

/** What only the runtime knows: where images are and what containers wrote into their own layers. */
export interface RuntimeUsage {
  /** By container id; with the capacity of the file system they are on. */
  readonly layers: ReadonlyMap<string, FilesystemUsage>;
  readonly imageFs: FilesystemUsage | undefined;
  readonly containerFs: FilesystemUsage | undefined;
}

/** The runtime asks every container for its values to answer this, so it is left in peace for a while. */
const keepMs = 30_000;
const callMs = 10_000;
const nanosPerMilli = 1_000_000n;

export class RuntimeUsageSource {
  readonly #deps: RuntimeUsageSourceDeps;
  readonly #kept: RefreshingCache<RuntimeUsage>;

  constructor(deps: RuntimeUsageSourceDeps) {
    this.#deps = deps;
    this.#kept = new RefreshingCache(deps.clock);
  }

  /** The last that is known. */
  get value(): RuntimeUsage | undefined {
    return this.#kept.value;
  }

  /** Asks where the last answer is too old, for pages or by the caller's own measure. Never rejects. */
  renew(signal: AbortSignal, maxAgeMs?: number): Promise<void> | undefined {
    const failed = (error: unknown): void => {
      if (!signal.aborted) this.#deps.log.error(error, 'The runtime does not report the usage of its file systems');
    };
    return this.#kept.renew(keepMs, () => this.#ask(signal), failed, maxAgeMs);
  }

  async #ask(signal: AbortSignal): Promise<RuntimeUsage> {
    const { runtime, disk } = this.#deps;
    const options = { signal, timeoutMs: callMs };
    const [{ stats }, { imageFilesystems, containerFilesystems }] = await Promise.all([
      runtime.listContainerStats({ filter: undefined }, options),
      runtime.imageFsInfo({}, options),
    ]);
    const [image] = imageFilesystems;
    const container = containerFilesystems[0] ?? image;
    const cgroupLayout = new Map<string, FilesystemUsage>();
    for (const entry of [image, container]) {
      const place = entry?.fsId?.mountpoint;
      if (place === undefined || place === '' || cgroupLayout.has(place)) continue;
      const device = disk.device(place);
      cgroupLayout.set(place, { ...(await disk.filesystem(place)), ...(device !== undefined && { device }) });
    }
    const layers = new Map<string, FilesystemUsage>();
    const home = container?.fsId?.mountpoint ?? '';
    for (const { attributes, writableLayer } of stats) {
      if (attributes === undefined || writableLayer === undefined) continue;
      // A layer's place may be a part of the snapshotter's; what counts is the file system it is on.
      const filesystem = cgroupLayout.get(writableLayer.fsId?.mountpoint ?? '') ?? cgroupLayout.get(home);
      layers.set(attributes.id, usedOn(filesystem, writableLayer));
    }
    return { layers, imageFs: onDisk(cgroupLayout, image), containerFs: onDisk(cgroupLayout, container) };
  }
}

function onDisk(
  cgroupLayout: ReadonlyMap<string, FilesystemUsage>,
  entry: CriFilesystem | undefined,
): FilesystemUsage | undefined {
  const filesystem = cgroupLayout.get(entry?.fsId?.mountpoint ?? '');
  return entry === undefined || filesystem === undefined ? undefined : usedOn(filesystem, entry);
}

/** Used bytes and inodes as the runtime reports them, the capacity as the file system does. */
function usedOn(filesystem: FilesystemUsage | undefined, entry: CriFilesystem): FilesystemUsage {
  return {
    capacity: undefined,
    available: undefined,
    inodes: undefined,
    inodesFree: undefined,
    ...filesystem,
    at: Number(entry.timestamp / nanosPerMilli),
    used: entry.usedBytes === undefined ? undefined : Number(entry.usedBytes.value),
    inodesUsed: entry.inodesUsed === undefined ? undefined : Number(entry.inodesUsed.value),
  };
}
