import { readFileSync } from 'node:fs';
import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { callError, loadLibc } from './libc.ts';
import { mountsAtOrBelow, parseMountInfo, readMountInfo, type MountEntry } from './mountinfo.ts';

const msRemount = 32;
const msBind = 4_096;
const msRecursive = 16_384;
const msPrivate = 262_144;
const umountNoFollow = 8;

/** Flags that a bind can have of its own, independent of its file system. */
const bindFlags: ReadonlyMap<string, number> = new Map([
  ['ro', 1],
  ['nosuid', 2],
  ['nodev', 4],
  ['noexec', 8],
  ['nosymfollow', 256],
  ['noatime', 1_024],
  ['nodiratime', 2_048],
  ['relatime', 2_097_152],
]);

/** The calls of the kernel behind mounts; the implementation decides in which process they are made. */
export interface MountCalls {
  /** A file system of the kernel's own on a folder. */
  mountNew(fsType: 'tmpfs' | 'hugetlbfs', target: string, data: string): Promise<void>;
  bind(source: string, target: string): Promise<void>;
  /** Changes the flags or the propagation of the mount on a path. The path crosses the mounts `through`. */
  change(target: string, flags: number, what: string, through: readonly MountEntry[]): Promise<void>;
  /** Unmounts everything that is mounted on a path. The path crosses the mounts `through`. */
  unmount(target: string, through: readonly MountEntry[]): Promise<void>;
}

/** Made by this process, in threads of its pool. */
export const mountCalls: MountCalls = {
  async mountNew(fsType, target, data) {
    const libc = await loadLibc();
    const failed = await libc.mount(fsType === 'tmpfs' ? 'tmpfs' : 'nodev', target, fsType, 0, data);
    if (failed !== 0) throw callError(failed, 'mount', `${fsType} on ${target} (${data})`);
  },

  async bind(source, target) {
    const libc = await loadLibc();
    const failed = await libc.mount(source, target, null, msBind, null);
    if (failed !== 0) throw callError(failed, 'bind', `${source} to ${target}`);
  },

  async change(target, flags, what) {
    const libc = await loadLibc();
    const failed = await libc.mount('none', target, null, flags, null);
    if (failed !== 0) throw callError(failed, what, target);
  },

  async unmount(target) {
    const libc = await loadLibc();
    let failed = await libc.umount2(target, umountNoFollow);
    while (failed === 0) failed = await libc.umount2(target, umountNoFollow);
    const error = callError(failed, 'umount', target);
    // Nothing is mounted there any more, or the path is missing.
    if (error.kind !== 'invalid' && error.kind !== 'notFound') throw error;
  },
};

/** Mounting, through the C library and without a program in between. */
export function mountsBy(calls: MountCalls) {
  return {
    /** A file system of the kernel's own on a folder. */
    mount(fsType: 'tmpfs' | 'hugetlbfs', target: string, options: readonly string[]): Promise<void> {
      return calls.mountNew(fsType, target, options.join(','));
    },

    /** Binds a file or folder to another path, without what is mounted below it. */
    bind(source: string, target: string): Promise<void> {
      return calls.bind(source, target);
    },

    /** Takes rights from a bind, and only there. Rights that were taken before stay so. */
    async restrict(target: string, options: readonly string[]): Promise<void> {
      const wanted = flagsOf(options);
      const location = await locate(target);
      const entry = location?.mounts.findLast(({ mountPoint }) => mountPoint === location.path);
      const present = flagsOf(entry?.options ?? []);
      if ((wanted | present) === present) return;
      const flags = msRemount | msBind | present | wanted;
      await calls.change(
        target,
        flags,
        `remount (${options.join(',')})`,
        location?.mounts.filter(isOn(location.path)) ?? [],
      );
    },

    /** Unmounts everything on a path, one layer after the other: the kernel reports when nothing is left. */
    async unmount(target: string): Promise<void> {
      const location = await locate(target);
      const through = location?.mounts.filter(isOn(location.path)) ?? [];
      if (through.length > 0) await calls.unmount(target, through);
    },

    /**
     * Unmounts everything at and below a path. What is bound there is visible elsewhere too, and mounts that were made
     * below that other path appear here: to unmount them here would unmount them there, so a bind with mounts below it
     * is made private first.
     */
    async release(path: string): Promise<void> {
      const location = await locate(path);
      if (location === undefined || location.mounts.length === 0) return;
      const points = pointsOf(location, path);
      const isBelow = (point: string, above: string): boolean => point.startsWith(`${above}/`);
      const through = (point: string): readonly MountEntry[] => {
        const real = location.path + point.slice(path.length);
        return location.mounts.filter(({ mountPoint }) => real === mountPoint || isBelow(real, mountPoint));
      };
      const tops = points.filter((point) => !points.some((above) => isBelow(point, above)));
      for (const top of tops.filter((above) => points.some((point) => isBelow(point, above)))) {
        await calls.change(top, msPrivate | msRecursive, 'cut off', through(top));
      }
      for (const point of points) await calls.unmount(point, through(point));
    },

    /** The paths at and below this one on which something is mounted, deepest first, as the caller spelt them. */
    async atOrBelow(path: string): Promise<readonly string[]> {
      const location = await locate(path);
      return location === undefined ? [] : pointsOf(location, path);
    },
  };
}

/** Calls in this process, for every mount. */
export const hostMounts = mountsBy(mountCalls);

const isOn =
  (path: string) =>
  ({ mountPoint }: MountEntry): boolean =>
    mountPoint === path;

function pointsOf(location: MountLocation, path: string): readonly string[] {
  const points = location.mounts.map(({ mountPoint }) => path + mountPoint.slice(location.path.length));
  return [...new Set(points)].toSorted((one, other) => other.length - one.length);
}

interface MountLocation {
  /** Without links. */
  readonly path: string;
  readonly mounts: readonly MountEntry[];
}

/**
 * Where a path is and what is mounted there; undefined when it is missing. A mount point itself is never accessed: its
 * server may never answer, and the call would occupy one of the few threads for file operations. The folder above gives
 * its location, and the table of mounts the rest. Only a path without a mount can be a link.
 */
async function locate(path: string): Promise<MountLocation | undefined> {
  const parent = await unless(['ENOENT', 'ENOTDIR'], realpath(dirname(path)));
  if (parent === undefined) return undefined;
  const plain = join(parent, basename(path));
  const mounts = mountsAtOrBelow(readMountsAt(plain), plain);
  if (mounts.length > 0 || !(await isLink(path))) return { path: plain, mounts };
  const real = await unless(['ENOENT', 'ENOTDIR', 'ELOOP'], realpath(path));
  return real === undefined ? undefined : { path: real, mounts: mountsAtOrBelow(readMountInfo(), real) };
}

async function isLink(path: string): Promise<boolean> {
  try {
    await readlink(path);
    return true;
  } catch {
    // No link, missing, or unreadable: nothing is mounted on it in each case, as the table has shown.
    return false;
  }
}

async function unless<T>(codes: readonly string[], promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Most paths have no mount: then it is enough that the table does not contain them. It escapes unusual characters. */
function readMountsAt(path: string): readonly MountEntry[] {
  const text = readFileSync('/proc/self/mountinfo', 'utf8');
  return /^[\w./~:@{}-]+$/.test(path) && !text.includes(path) ? [] : parseMountInfo(text);
}

function flagsOf(options: readonly string[]): number {
  return options.reduce((flags, option) => flags | (bindFlags.get(option) ?? 0), 0);
}
