import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { FilesystemUsage } from '../model/usage.ts';
import { mountAt } from './disk-usage-mounts.ts';
import { mappedError } from './files.ts';
import { run } from './mount-programs.ts';
import { readMountInfo, type MountEntry } from './mountinfo.ts';

export interface HostVolumeDisksOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** The agent's own; stat(1) is found by its PATH. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly program?: string;
  readonly mounts?: () => readonly MountEntry[];
}

/** Others than this machine's kernel answer for these, and may not. */
const distantTypes = new Set([
  '9p',
  'afs',
  'beegfs',
  'ceph',
  'cifs',
  'gfs2',
  'glusterfs',
  'gpfs',
  'lustre',
  'nfs',
  'nfs4',
  'ocfs2',
  'orangefs',
  'smb3',
  'virtiofs',
]);
/** Block size, blocks, free, free for users, inodes, free inodes. */
const format = '%S %b %f %a %c %d';
const sectorBytes = 512;

/** Disks of volumes, which may be those of other machines. */
export class HostVolumeDisks {
  readonly #options: HostVolumeDisksOptions;

  constructor(options: HostVolumeDisksOptions) {
    this.#options = options;
  }

  /** Read from the table of mounts: the file system itself is not touched. */
  isDistant(path: string): boolean {
    const fsType = mountAt((this.#options.mounts ?? readMountInfo)(), path)?.fsType ?? '';
    return distantTypes.has(fsType) || /^fuse(?:blk)?(?:\.|$)/.test(fsType);
  }

  /** A server that is gone holds whoever asks until somebody kills him: another process, and none of our threads. */
  async distantFilesystem(path: string, signal: AbortSignal): Promise<FilesystemUsage> {
    const { clock, environment, program = 'stat' } = this.#options;
    const { ended, output } = await run(program, ['-f', '-c', format, '--', path], environment, signal);
    signal.throwIfAborted();
    const figures = output.trim().split(' ').map(Number);
    const [size = 0, blocks = 0, free = 0, available = 0, inodes = 0, inodesFree = 0] = figures;
    if (ended !== undefined || figures.length !== 6 || figures.some((figure) => !Number.isFinite(figure))) {
      throw new TubeletError(
        'unavailable',
        `cannot ask the file system of ${path}: ${ended ?? 'odd answer'}: ${output}`,
      );
    }
    return {
      at: clock.now(),
      capacity: blocks * size,
      available: available * size,
      used: (blocks - free) * size,
      inodes,
      inodesFree,
      inodesUsed: inodes - inodesFree,
    };
  }

  /** Through the device's number and what the kernel knows of it: nobody opens it. */
  async deviceBytes(path: string): Promise<number> {
    try {
      const found = await stat(path);
      if (!found.isBlockDevice()) throw new TubeletError('invalid', `${path} is not a block device`);
      const sectors = await readFile(`/sys/dev/block/${deviceNumber(found.rdev)}/size`, 'utf8');
      return Number(sectors) * sectorBytes;
    } catch (error) {
      throw mappedError(error);
    }
  }
}

/** `major:minor`, as Linux packs them into one number. */
export function deviceNumber(packed: number): string {
  const device = BigInt(packed);
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn & 0xffffffffn);
  return `${major}:${minor}`;
}
