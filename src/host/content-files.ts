import { constants } from 'node:fs';
import {
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  symlink,
  unlink,
  chmod,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileAccess, ContentFile } from '../model/file-facts.ts';
import { mappedError } from './files.ts';

const permissionBits = 0o7777;
const unfinishedMode = 0o600;
/** The name under which a link is made before it replaces the old one. */
const linkInTheMaking = '..data_tmp';

/** The files of volumes that only the agent writes to; modes are exact, independent of the umask. */
export const contentFiles = {
  readLink(path: string): Promise<string | undefined> {
    return unless(['ENOENT', 'EINVAL', 'ENOTDIR'], readlink(path));
  },

  async readTree(path: string): Promise<ReadonlyMap<string, Required<ContentFile>>> {
    const entries = await unless(['ENOENT', 'ENOTDIR'], readdir(path, { recursive: true, withFileTypes: true }));
    const files = (entries ?? []).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const read = files.map(async (file) => {
      const [content, { mode, uid, gid }] = await Promise.all([readFile(file), lstat(file)]);
      return [file.slice(path.length + 1), { content, mode: mode & permissionBits, uid, gid }] as const;
    });
    return new Map(await Promise.all(read).catch(rethrow));
  },

  async makeFolder(path: string, { mode, uid = 0, gid = 0 }: FileAccess): Promise<void> {
    try {
      await mkdir(path, { mode: unfinishedMode });
      // The owner first: a change of owner clears the group's bits.
      if (isOther(uid, gid)) await lchown(path, uid, gid);
      await chmod(path, mode);
    } catch (error) {
      rethrow(error);
    }
  },

  async writeFile(path: string, { content, mode, uid = 0, gid = 0 }: ContentFile): Promise<void> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    try {
      const file = await open(path, flags, unfinishedMode);
      try {
        await file.writeFile(content);
        if (isOther(uid, gid)) await file.chown(uid, gid);
        await file.chmod(mode);
      } finally {
        await file.close();
      }
    } catch (error) {
      rethrow(error);
    }
  },

  /** Makes the link directly where nothing exists yet; otherwise the new link replaces the old one atomically. */
  async replaceLink(path: string, target: string, { uid = 0, gid = 0 }: Omit<FileAccess, 'mode'>): Promise<void> {
    try {
      if (!isOther(uid, gid) && (await madeLink(target, path))) return;
      const making = join(dirname(path), linkInTheMaking);
      // A link that a crash left unfinished is removed.
      if (!(await madeLink(target, making))) {
        await unlink(making);
        await symlink(target, making);
      }
      if (isOther(uid, gid)) await lchown(making, uid, gid);
      await rename(making, path);
    } catch (error) {
      rethrow(error);
    }
  },

  async unlink(path: string): Promise<void> {
    await unless(['ENOENT'], unlink(path));
  },
};

/** What the agent makes is owned by root, unless another owner is named. */
const isOther = (uid: number, gid: number): boolean => uid !== 0 || gid !== 0;

/** Answers false where the path exists already. */
async function madeLink(target: string, path: string): Promise<boolean> {
  try {
    await symlink(target, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function rethrow(error: unknown): never {
  throw mappedError(error);
}

/** Undefined when the work failed with one of these codes. */
async function unless<T>(codes: readonly string[], work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    return rethrow(error);
  }
}
