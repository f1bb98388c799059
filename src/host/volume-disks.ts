import type { Clock } from '../base/clock.ts';
import type { FilesystemUsage } from '../model/usage.ts';
import { deviceBytes } from './device-bytes.ts';
import type { ForeignStorage } from './foreign-storage.ts';
import { filesystemFacts } from './filesystem-facts.ts';

interface HostVolumeDisksOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly storage: Pick<ForeignStorage, 'at' | 'isForeign'>;
}

/** Disks of volumes, which may be those of other machines. */
export class HostVolumeDisks {
  readonly #options: HostVolumeDisksOptions;

  constructor(options: HostVolumeDisksOptions) {
    this.#options = options;
  }

  /** Read from the table of mounts, without accessing the file system. */
  isDistant(path: string): boolean {
    return this.#options.storage.isForeign(path);
  }

  /** A server that does not answer blocks the caller: in another process, not in a thread of ours. */
  async distantFilesystem(path: string, signal: AbortSignal): Promise<FilesystemUsage> {
    const { clock, storage } = this.#options;
    signal.throwIfAborted();
    const { bsize, blocks, bfree, bavail, files, ffree } = await storage.at(path, 'statfs', [path], () =>
      filesystemFacts(path),
    );
    return {
      at: clock.now(),
      capacity: blocks * bsize,
      available: bavail * bsize,
      used: (blocks - bfree) * bsize,
      inodes: files,
      inodesFree: ffree,
      inodesUsed: files - ffree,
    };
  }

  deviceBytes(path: string): Promise<number> {
    return this.#options.storage.at(path, 'deviceBytes', [path], () => deviceBytes(path));
  }
}
