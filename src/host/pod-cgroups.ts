import { readdirSync, readFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { TubeletError } from '../base/errors.ts';
import { readMountInfo, type MountEntry } from './mountinfo.ts';

/** One tree of control groups: the only one of version 2, or that of some controllers of version 1. */
export interface CgroupHierarchy {
  readonly version: 1 | 2;
  /** Where its root is mounted. */
  readonly root: string;
  /** Controllers of a version 1 tree, `name=systemd` among them; empty for version 2. */
  readonly controllers: readonly string[];
}

/** `busy` names the cgroup directories that still have processes; nothing was removed then. */
export type CgroupRemoval = { readonly removed: true } | { readonly removed: false; readonly busy: readonly string[] };

/** Options of a cgroup file system that are not controllers. */
const plainOptions = new Set(['rw', 'ro', 'noprefix', 'clone_children', 'xattr', 'cpuset_v2_mode']);

/** The cgroup trees mounted on this machine, each once. */
export function cgroupHierarchies(mounts: readonly MountEntry[] = readMountInfo()): CgroupHierarchy[] {
  const byDevice = new Map<string, MountEntry>();
  for (const mount of mounts) {
    if (mount.fsType !== 'cgroup' && mount.fsType !== 'cgroup2') continue;
    const known = byDevice.get(mount.device);
    // A tree may be mounted more than once, or only a part of it; the mount of its root is preferred.
    if (known === undefined || (known.root !== '/' && mount.root === '/')) byDevice.set(mount.device, mount);
  }
  return [...byDevice.values()].map((mount) => ({
    version: mount.fsType === 'cgroup2' ? 2 : 1,
    root: mount.mountPoint,
    controllers: mount.fsType === 'cgroup2' ? [] : controllersOf(mount),
  }));
}

function controllersOf(mount: MountEntry): string[] {
  return mount.superOptions.filter((option) => {
    return !plainOptions.has(option) && (!option.includes('=') || option.startsWith('name='));
  });
}

/** The processes in a cgroup and in those below it, in any tree. */
export function cgroupProcesses(path: string, hierarchies: readonly CgroupHierarchy[]): readonly number[] {
  requirePath(path);
  const texts = hierarchies
    .flatMap(({ root }) => cgroupTree(join(root, path)))
    .map((directory) => ignoreNotFound(() => readProcesses(directory)) ?? '');
  const pids = texts.flatMap((text) => text.split('\n').filter((line) => line !== '')).map(Number);
  return [...new Set(pids)];
}

/** The directories of a cgroup and of those below it that have processes, in any tree. */
export function busyCgroups(path: string, hierarchies: readonly CgroupHierarchy[]): readonly string[] {
  requirePath(path);
  return hierarchies.flatMap(({ root }) => cgroupTree(join(root, path))).filter(hasProcesses);
}

/**
 * Removes a cgroup such as `/kubepods/besteffort/pod<uid>`, with the cgroups below it, from every tree that has it. A
 * cgroup with processes cannot be removed; all trees are checked before the first directory is removed.
 */
export async function removeCgroup(
  path: string,
  hierarchies: readonly CgroupHierarchy[] = cgroupHierarchies(),
): Promise<CgroupRemoval> {
  requirePath(path);
  const directories = hierarchies.flatMap(({ root }) => cgroupTree(join(root, path)));
  const busy = directories.filter(hasProcesses);
  if (busy.length > 0) return { removed: false, busy };
  for (const directory of directories) {
    // A process may have moved in since the check; the kernel then refuses, and the cgroup is reported as busy.
    if (!(await removeDirectory(directory))) return { removed: false, busy: [directory] };
  }
  return { removed: true };
}

/** Accepts only the path of a cgroup below the root, without `..`. */
export function requirePath(path: string): void {
  if (!path.startsWith('/') || normalize(path) !== path || path === '/' || path.endsWith('/')) {
    throw new TubeletError('invalid', `"${path}" is not the path of a cgroup that could be made or removed`);
  }
}

/** A cgroup and those below it, the deepest first; empty when it is not there. */
function cgroupTree(directory: string): string[] {
  const children = ignoreNotFound(() => readdirSync(directory, { withFileTypes: true }));
  if (children === undefined) return [];
  const below = children
    .filter((child) => child.isDirectory())
    .flatMap((child) => cgroupTree(join(directory, child.name)));
  return [...below, directory];
}

function hasProcesses(directory: string): boolean {
  const processes = ignoreNotFound(() => readProcesses(directory));
  return processes !== undefined && processes.trim() !== '';
}

/** A threaded cgroup of version 2 does not list its processes, only its threads. */
function readProcesses(directory: string): string {
  try {
    return readFileSync(join(directory, 'cgroup.procs'), 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'EOPNOTSUPP') throw error;
    return readFileSync(join(directory, 'cgroup.threads'), 'utf8');
  }
}

/** Answers false when the cgroup is in use. */
async function removeDirectory(directory: string): Promise<boolean> {
  try {
    await rmdir(directory);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return true;
    if (code === 'EBUSY' || code === 'ENOTEMPTY') return false;
    throw new TubeletError('internal', `cannot remove cgroup ${directory}: ${code ?? String(error)}`, { cause: error });
  }
}

/** A cgroup that vanishes during a removal is no error: that was the goal. */
function ignoreNotFound<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENODEV') return undefined;
    throw error;
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
