import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the kernel shows what it can do; elsewhere in tests. */
export interface KernelFolders {
  readonly cgroups: string;
  readonly ownCgroup: string;
  readonly selinux: string;
}

const kernel: KernelFolders = {
  cgroups: '/sys/fs/cgroup',
  ownCgroup: '/proc/self/cgroup',
  selinux: '/sys/fs/selinux',
};

/** Whether swap can be limited per cgroup. The root of version 2 has no such file, so our own cgroup is looked at. */
export function hasSwapController(cgroupVersion: 1 | 2, folders = kernel): boolean {
  if (cgroupVersion === 1) return existsSync(join(folders.cgroups, 'memory/memory.memsw.limit_in_bytes'));
  if (!existsSync(folders.ownCgroup)) return false;
  const own = /^0::(?<path>.*)$/m.exec(readFileSync(folders.ownCgroup, 'utf8'))?.groups?.['path'];
  return own !== undefined && existsSync(join(folders.cgroups, own, 'memory.swap.max'));
}

/** Whether files need labels before a container may read them. */
export function hasSelinux(folders = kernel): boolean {
  return existsSync(join(folders.selinux, 'enforce'));
}
