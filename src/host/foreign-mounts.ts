import type { MountEntry } from './mountinfo.ts';

/** File systems that the kernel alone serves, from memory. */
const inMemory = new Set([
  'binfmt_misc',
  'bpf',
  'cgroup',
  'cgroup2',
  'configfs',
  'debugfs',
  'devpts',
  'devtmpfs',
  'efivarfs',
  'fusectl',
  'hugetlbfs',
  'mqueue',
  'proc',
  'pstore',
  'ramfs',
  'securityfs',
  'selinuxfs',
  'sysfs',
  'tmpfs',
  'tracefs',
]);

/** A file system on which calls may hang for as long as a server or a disk does. */
export type ForeignMount = Pick<MountEntry, 'device' | 'mountPoint' | 'fsType' | 'source'>;

/** The devices of the file systems that this process itself runs from: if they hang, the agent cannot work at all. */
export function ownDevices(mounts: readonly MountEntry[], paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.flatMap((path) => mountOf(mounts, path)?.device ?? []));
}

/**
 * Whether a file system is served by anything but this machine's kernel: network file systems, FUSE, disks beside those
 * of the agent. An unknown type counts as one that may hang.
 */
export function isForeign({ fsType, device }: ForeignMount, own: ReadonlySet<string>): boolean {
  return !inMemory.has(fsType) && !own.has(device);
}

/** The mount that a real path is on: the deepest at or above it; of several at one mount point the last. */
function mountOf(mounts: readonly MountEntry[], path: string): MountEntry | undefined {
  let nearest: MountEntry | undefined;
  for (const mount of mounts) {
    if (!isAtOrAbove(mount.mountPoint, path)) continue;
    if (mount.mountPoint.length >= (nearest?.mountPoint.length ?? 0)) nearest = mount;
  }
  return nearest;
}

export function isAtOrAbove(point: string, path: string): boolean {
  return point === '/' || path === point || path.startsWith(`${point}/`);
}

/** The message of a pod whose file system does not answer. */
export function hangText(path: string, { fsType, source, mountPoint }: ForeignMount): string {
  return `${path}: the file system mounted on ${mountPoint} (${fsType}, ${source}) does not answer`;
}
