import { mkdtemp, realpath, rmdir, stat } from 'node:fs/promises';
import { hostFiles } from './files.ts';
import { callError, libcError, loadLibc } from './libc.ts';
import { hostMounts } from './mounts.ts';
import { readMountInfo } from './mountinfo.ts';

const msRecursive = 16_384;
const msShared = 1_048_576;

/** The agent's own folders, and how they are mounted. */
export const setupFolders = {
  /** Makes a folder with those above it; one that is there stays as it is. */
  async ensure(path: string, mode: number): Promise<void> {
    if (!(await isFolder(path))) await hostFiles.makeFolder(path, mode);
  },

  real: (path: string): Promise<string> => realpath(path),

  mounts: readMountInfo,

  bindOntoItself: (path: string): Promise<void> => hostMounts.bind(path, path),

  async makeShared(path: string): Promise<void> {
    const libc = await loadLibc();
    const failed = await libc.mount('none', path, null, msShared | msRecursive, null);
    if (failed !== 0) throw callError(failed, 'share', path);
  },

  /** Mounts a tmpfs in a new folder below this one, and removes both. */
  async tryTmpfs(below: string, option: string): Promise<void> {
    const path = await mkdtemp(`${below}/tmpfs-${option.replace(/=.*/, '')}-test-`);
    try {
      await hostMounts.mount('tmpfs', path, [option]);
      await hostMounts.unmount(path);
    } finally {
      await rmdir(path);
    }
  },

  /** The label of SELinux. */
  async setLabel(path: string, label: string): Promise<void> {
    const libc = await loadLibc();
    if (libc.setxattr(path, 'security.selinux', Buffer.from(`${label}\0`), 0) !== 0) {
      throw libcError(libc, 'setxattr', `${path} security.selinux`);
    }
  },
};

/** Also a link to one. */
async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
