import { statfs, type StatsFs } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { FilesystemUsage, TreeSize, FolderSizes } from '../model/usage.ts';
import { countedMounts, deviceAt } from './disk-usage-mounts.ts';
import { mountsAtOrBelow, readMountInfo } from './mountinfo.ts';
import { status, TreeWalk } from './tree-walk.ts';

const deviceKeepMs = 60_000;
/** More folders in one than any pod has containers; further ones are counted like files. */
const maxFolders = 10_000;

/** Space on disks. Everything is asynchronous and sequential, so that one tree never occupies all threads. */
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
    // A file system that was unmounted meanwhile, or is out of reach, must not hide the others.
    return asked.flatMap((answer, index) =>
      answer.status === 'fulfilled' ? [{ ...answer.value, device: mounts[index]?.device ?? '' }] : [],
    );
  }

  /**
   * The device of a path's file system: asked of few paths and cached, because each pod makes the table of mounts
   * longer.
   */
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
    const walk = new TreeWalk(root.dev, signal, await mountPointsBelow(path));
    walk.count(root);
    if (root.isDirectory()) await walk.below(path, root.size);
    return walk.size();
  }

  /** What is in each folder below one; the folders themselves are not counted. Empty where there is no such folder. */
  async folders(path: string, signal: AbortSignal): Promise<FolderSizes> {
    const folders = new Map<string, TreeSize>();
    const points = await mountPointsBelow(path);
    const beside = new TreeWalk(undefined, signal, points);
    const top = await status(path);
    if (top?.isDirectory() !== true) return { files: empty, folders };
    for await (const found of beside.in(path, top.size)) {
      const own = folders.size < maxFolders;
      const walk = own ? new TreeWalk(undefined, signal, points) : beside;
      await walk.below(found.path, found.sizeBytes);
      if (own) folders.set(basename(found.path), walk.size());
    }
    return { files: beside.size(), folders };
  }

  /** Whether a file system is mounted right there. */
  async isMountPoint(path: string): Promise<boolean> {
    const [own, above] = await Promise.all([lstat(path), lstat(dirname(path))]);
    return own.dev !== above.dev;
  }
}

const empty: TreeSize = { bytes: 0, inodes: 0 };

/**
 * Mount points below a path, as the path is spelt: pods may mount there and the mount appears here too, and a call on a
 * mount point may wait for its server for ever.
 */
async function mountPointsBelow(path: string): Promise<ReadonlySet<string>> {
  const real = await realpath(path).catch(() => path);
  const points = mountsAtOrBelow(readMountInfo(), real).map(({ mountPoint }) => path + mountPoint.slice(real.length));
  return new Set(points.filter((point) => point !== path));
}

function statusOfFilesystem(path: string): Promise<StatsFs> {
  return new Promise((resolve, reject) => {
    statfs(path, (error, stats) => (error === null ? resolve(stats) : reject(error)));
  });
}
