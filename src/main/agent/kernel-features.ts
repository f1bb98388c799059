import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the kernel shows its features; elsewhere in tests. */
interface KernelFolders {
  readonly cgroups: string;
  readonly ownCgroup: string;
  readonly selinux: string;
  /** The agent's own label. */
  readonly ownLabel: string;
}

const kernel: KernelFolders = {
  cgroups: '/sys/fs/cgroup',
  ownCgroup: '/proc/self/cgroup',
  selinux: '/sys/fs/selinux',
  ownLabel: '/proc/self/attr/current',
};

/**
 * Whether swap can be limited per cgroup. The root of version 2 has no such file, so the agent's own cgroup is read.
 */
export function hasSwapController(cgroupVersion: 1 | 2, folders = kernel): boolean {
  if (cgroupVersion === 1) return existsSync(join(folders.cgroups, 'memory/memory.memsw.limit_in_bytes'));
  if (!existsSync(folders.ownCgroup)) return false;
  const own = /^0::(?<path>.*)$/m.exec(readFileSync(folders.ownCgroup, 'utf8'))?.groups?.['path'];
  return own !== undefined && existsSync(join(folders.cgroups, own, 'memory.swap.max'));
}

/**
 * Whether files need labels before a container may read them. If selinuxfs is read-only, as in containers, SELinux
 * belongs to the host; and before a policy is loaded everything runs as the kernel does.
 */
export function hasSelinux(folders = kernel): boolean {
  const enforce = join(folders.selinux, 'enforce');
  if (!existsSync(enforce) || !existsSync(folders.ownLabel)) return false;
  try {
    accessSync(folders.selinux, constants.W_OK);
    return readFileSync(folders.ownLabel, 'utf8').replace(/[\0\n]+$/, '') !== 'kernel';
  } catch (error) {
    // An unreadable label counts as none, as where another security module provides these files.
    if (['EROFS', 'EACCES', 'EINVAL'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}
