import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { loadLibc, libcError } from './libc.ts';
import { mountsAtOrBelow, parseMountInfo, type MountEntry } from './mountinfo.ts';

const msBind = 4_096;
const umountNoFollow = 8;

/** Mounting, through the C library and without a program in between. The calls take a fraction of a millisecond each. */
export const hostMounts = {
  /** A file system of the kernel's own on a folder. */
  async mount(fsType: 'tmpfs' | 'hugetlbfs', target: string, options: readonly string[]): Promise<void> {
    const libc = await loadLibc();
    const source = fsType === 'tmpfs' ? 'tmpfs' : 'nodev';
    if (libc.mount(source, target, fsType, 0, options.join(',')) !== 0) {
      throw libcError(libc, 'mount', `${fsType} on ${target} (${options.join(',')})`);
    }
  },

  /** Shows a file or folder at another place too; not what is mounted below it. */
  async bind(source: string, target: string): Promise<void> {
    const libc = await loadLibc();
    if (libc.mount(source, target, null, msBind, null) !== 0) throw libcError(libc, 'bind', `${source} to ${target}`);
  },

  /** Takes away all that is mounted on a path, one over the other as it may be. */
  async unmount(target: string): Promise<void> {
    const libc = await loadLibc();
    while ((await this.atOrBelow(target)).includes(target)) {
      if (libc.umount2(target, umountNoFollow) !== 0) throw libcError(libc, 'umount', target);
    }
  },

  /** The paths at and below this one on which something is mounted, deepest first, in the words of the caller. */
  async atOrBelow(path: string): Promise<readonly string[]> {
    const real = await whereItIs(path);
    if (real === undefined) return [];
    const points = mountsAtOrBelow(readMountsAt(real), real).map(
      ({ mountPoint }) => path + mountPoint.slice(real.length),
    );
    return [...new Set(points)].toSorted((one, other) => other.length - one.length);
  },
};

/**
 * A path without links; nothing when nothing is there. What cannot be looked at may still be mounted (a server that went
 * away, a link in a circle): then the folder above says where it is, for "no mount" would let its files be removed.
 */
async function whereItIs(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return join(await realpath(dirname(path)), basename(path));
  }
}

/** Most paths have no mount: then it is enough that the table does not name them. Odd characters are escaped in it. */
function readMountsAt(path: string): readonly MountEntry[] {
  const text = readFileSync('/proc/self/mountinfo', 'utf8');
  return /^[\w./~:@{}-]+$/.test(path) && !text.includes(path) ? [] : parseMountInfo(text);
}
