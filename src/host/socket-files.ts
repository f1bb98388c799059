import { chmod, lstat, mkdir, unlink } from 'node:fs/promises';
import { mappedError } from './files.ts';

/** The files at which this machine's unix sockets can be reached. */
export const socketFiles = {
  /** Makes a folder and those above it; an existing one stays as it is. */
  async makeFolder(path: string, mode: number): Promise<void> {
    await mapped(mkdir(path, { recursive: true, mode }));
  },

  /** Removes a socket that a process left behind. Answers false for any other kind of file, which stays. */
  async removeSocket(path: string): Promise<boolean> {
    const found = await ignoreNotFound(lstat(path));
    if (found === undefined) return true;
    if (!found.isSocket()) return false;
    await ignoreNotFound(unlink(path));
    return true;
  },

  /** Removes a file of any kind; a missing one is no error. */
  async removeFile(path: string): Promise<void> {
    await ignoreNotFound(unlink(path));
  },

  async setMode(path: string, mode: number): Promise<void> {
    await mapped(chmod(path, mode));
  },
};

async function mapped<T>(outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    throw mappedError(error);
  }
}

async function ignoreNotFound<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw mappedError(error);
  }
}
