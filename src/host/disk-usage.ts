import { lstat, readdir, statfs, type Dirent, type Stats, type StatsFs } from 'node:fs';
import { lstat as lstatNow, opendir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { FilesystemUsage } from '../model/usage.ts';
import { countedMounts, deviceAt } from './disk-usage-mounts.ts';
import { mountsAtOrBelow, readMountInfo } from './mountinfo.ts';

/** What files take on a disk: allocated bytes and inodes, those with several names once. */
export interface TreeSize {
  readonly bytes: number;
  readonly inodes: number;
}

/** Sizes of folders below one, and of the files beside them. */
export interface FolderSizes {
  readonly files: TreeSize;
  readonly folders: ReadonlyMap<string, TreeSize>;
}

const blockBytes = 512;
/** Entries of one folder that are looked at together. */
const together = 8;
const pieceEntries = 256;
const deviceKeepMs = 60_000;
/**
 * A folder of this size is not listed as a whole but piece by piece: whoever fills an emptyDir with millions of files must
 * not be able to fill our memory with their names. The size of a folder grows with its entries on every file system.
 */
const largeFolderBytes = 1 << 20;

/** Space on real disks. Everything is asynchronous; one call follows the other, so that a tree never floods the threads. */
export class HostDisk {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #devices = new Map<string, { readonly device: string | undefined; readonly untilMs: number }>();

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#clock = clock;
  }

  /** The file system that a path is on. */
  async filesystem(path: string): Promise<FilesystemUsage> {
    const { bsize, blocks, bfree, bavail, files, ffree } = await statusOfFilesystem(path);
    return {
      at: this.#clock.now(),
      capacity: blocks * bsize,
      available: bavail * bsize,
      used: (blocks - bfree) * bsize,
      inodes: files,
      inodesFree: ffree,
      inodesUsed: files - ffree,
    };
  }

  /** The disks of the machine and its well-known folders in memory, each with its device. */
  async filesystems(): Promise<readonly FilesystemUsage[]> {
    const mounts = countedMounts(readMountInfo());
    const asked = await Promise.allSettled(mounts.map(({ path }) => this.filesystem(path)));
    // One that went meanwhile, or that was mounted over by something out of reach, takes nothing from the others.
    return asked.flatMap((answer, index) =>
      answer.status === 'fulfilled' ? [{ ...answer.value, device: mounts[index]?.device ?? '' }] : [],
    );
  }

  /** What the file system of a path lies on: asked of few paths, and kept, for each pod makes the list of mounts longer. */
  device(path: string): string | undefined {
    const nowMs = this.#clock.monotonic();
    const kept = this.#devices.get(path);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.device;
    const device = deviceAt(readMountInfo(), path);
    this.#devices.set(path, { device, untilMs: nowMs + deviceKeepMs });
    return device;
  }

  /** A tree with its root, as far as it is on the root's file system; links are counted, not followed. */
  async tree(path: string, signal: AbortSignal): Promise<TreeSize> {
    const root = await status(path);
    if (root === undefined) return empty;
    const walk = new Walk(root.dev, signal, await mountPointsBelow(path));
    walk.count(root);
    if (root.isDirectory()) await walk.below(path, root.size);
    return walk.size();
  }

  /** What is in each folder below one; the folders themselves are not counted. None where there is no such folder. */
  async folders(path: string, signal: AbortSignal): Promise<FolderSizes> {
    const beside: string[] = [];
    const folders = new Map<string, TreeSize>();
    const points = await mountPointsBelow(path);
    for (const entry of await list(path)) {
      if (points.has(join(path, entry.name))) continue;
      if (entry.isDirectory()) folders.set(entry.name, await this.#inside(join(path, entry.name), signal, points));
      else beside.push(entry.name);
    }
    const walk = new Walk(undefined, signal, points);
    await walk.entries(path, beside);
    return { files: walk.size(), folders };
  }

  async #inside(folder: string, signal: AbortSignal, points: ReadonlySet<string>): Promise<TreeSize> {
    const walk = new Walk(undefined, signal, points);
    await walk.below(folder, 0);
    return walk.size();
  }

  /** Whether a file system is mounted right there. */
  async isMountPoint(path: string): Promise<boolean> {
    const [own, above] = await Promise.all([lstatNow(path), lstatNow(dirname(path))]);
    return own.dev !== above.dev;
  }
}

const empty: TreeSize = { bytes: 0, inodes: 0 };

/** One walk through folders of one file system. */
class Walk {
  #device: number | undefined;
  readonly #signal: AbortSignal;
  readonly #mountPoints: ReadonlySet<string>;
  readonly #severalNames = new Set<number>();
  #bytes = 0;
  #inodes = 0;

  /** Without a device that of the first entry counts. */
  constructor(device: number | undefined, signal: AbortSignal, mountPoints: ReadonlySet<string>) {
    this.#device = device;
    this.#signal = signal;
    this.#mountPoints = mountPoints;
  }

  size(): TreeSize {
    return { bytes: this.#bytes, inodes: this.#inodes };
  }

  /** Answers false for what belongs to another file system or was counted under another name. */
  count(entry: Stats): boolean {
    this.#device ??= entry.dev;
    if (entry.dev !== this.#device) return false;
    if (entry.nlink > 1 && !entry.isDirectory()) {
      if (this.#severalNames.has(entry.ino)) return false;
      this.#severalNames.add(entry.ino);
    }
    this.#bytes += entry.blocks * blockBytes;
    this.#inodes++;
    return true;
  }

  /** All that is below a folder, folder by folder: the depth of a tree is no depth of calls. */
  async below(folder: string, sizeBytes: number): Promise<void> {
    const waiting = [{ path: folder, sizeBytes }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { path } = next;
      this.#signal.throwIfAborted();
      if (next.sizeBytes < largeFolderBytes) {
        waiting.push(
          ...(await this.entries(
            path,
            (await list(path)).map(({ name }) => name),
          )),
        );
        continue;
      }
      for await (const names of pieces(path)) waiting.push(...(await this.entries(path, names)));
    }
  }

  /** Counts entries of a folder; answers the folders among them. */
  async entries(
    folder: string,
    names: readonly string[],
  ): Promise<readonly { readonly path: string; readonly sizeBytes: number }[]> {
    const folders: { readonly path: string; readonly sizeBytes: number }[] = [];
    for (let from = 0; from < names.length; from += together) {
      this.#signal.throwIfAborted();
      const some = names.slice(from, from + together).map((name) => join(folder, name));
      const paths = some.filter((path) => !this.#mountPoints.has(path));
      const found = await Promise.all(paths.map(status));
      for (const [index, entry] of found.entries()) {
        const isNew = entry !== undefined && this.count(entry);
        const path = paths[index];
        if (isNew && entry.isDirectory() && path !== undefined) folders.push({ path, sizeBytes: entry.size });
      }
    }
    return folders;
  }
}

/** What vanishes while one counts takes no space any more; a name that is too long for a path cannot be reached. */
const passing = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EACCES', 'ELOOP']);

/**
 * What is mounted below a path, as it is spelt: pods may mount there what others see, and whoever looks at a mount point may
 * wait for its server for ever.
 */
async function mountPointsBelow(path: string): Promise<ReadonlySet<string>> {
  const real = await realpath(path).catch(() => path);
  const points = mountsAtOrBelow(readMountInfo(), real).map(({ mountPoint }) => path + mountPoint.slice(real.length));
  return new Set(points.filter((point) => point !== path));
}

/** The plain call costs half of what its promise does, and there are thousands. */
function status(path: string): Promise<Stats | undefined> {
  return new Promise((resolve, reject) => {
    lstat(path, (error, stats) => {
      if (error === null) resolve(stats);
      else if (passing.has(error.code ?? '')) resolve(undefined);
      else reject(error);
    });
  });
}

function statusOfFilesystem(path: string): Promise<StatsFs> {
  return new Promise((resolve, reject) => {
    statfs(path, (error, stats) => (error === null ? resolve(stats) : reject(error)));
  });
}

function list(path: string): Promise<readonly Dirent[]> {
  return new Promise((resolve, reject) => {
    readdir(path, { withFileTypes: true }, (error, entries) => {
      if (error === null) resolve(entries);
      else if (passing.has(error.code ?? '')) resolve([]);
      else reject(error);
    });
  });
}

/** The names in a folder, some at a time. */
async function* pieces(path: string): AsyncGenerator<readonly string[]> {
  let names: string[] = [];
  for await (const { name } of await opendir(path, { bufferSize: pieceEntries })) {
    names.push(name);
    if (names.length < pieceEntries) continue;
    yield names;
    names = [];
  }
  yield names;
}
