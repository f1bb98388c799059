import type { MountEntry } from './mountinfo.ts';

/** File systems on disks. Network file systems are left out: a server that does not answer would block every caller. */
const onDisks = new Set(['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'f2fs', 'zfs', 'bcachefs']);
/** File systems in memory of the machine itself; pods and sandboxes have hundreds of their own. */
const inMemory = new Set(['/dev/shm', '/run', '/run/lock', '/tmp']);

interface CountedMount {
  readonly path: string;
  readonly device: string;
}

/** The mounts that represent file systems of the machine: each file system once, by its first mount. */
export function countedMounts(mounts: readonly MountEntry[]): readonly CountedMount[] {
  const found = new Map<string, CountedMount>();
  for (const mount of mounts) {
    const { mountPoint: path, fsType } = mount;
    const counts = onDisks.has(fsType) || (fsType === 'tmpfs' && inMemory.has(path));
    if (counts && !found.has(mount.device)) found.set(mount.device, { path, device: deviceOf(mount) });
  }
  return [...found.values()];
}

/**
 * The device of the file system that a path is on: that of the deepest mount above it, the last one where several are.
 */
export function deviceAt(mounts: readonly MountEntry[], path: string): string | undefined {
  const nearest = mountAt(mounts, path);
  return nearest === undefined ? undefined : deviceOf(nearest);
}

/** The mount that a path is on. */
function mountAt(mounts: readonly MountEntry[], path: string): MountEntry | undefined {
  let nearest: MountEntry | undefined;
  for (const mount of mounts) {
    const { mountPoint } = mount;
    const isAbove = mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`);
    if (isAbove && mountPoint.length >= (nearest?.mountPoint.length ?? 0)) nearest = mount;
  }
  return nearest;
}

/** A file system in memory has no device; its mount point identifies it. */
const deviceOf = ({ fsType, source, mountPoint }: MountEntry): string => (fsType === 'tmpfs' ? mountPoint : source);
