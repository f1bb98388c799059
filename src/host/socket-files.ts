import { chmod, lstat, mkdir, unlink } from 'node:fs/promises';
import { mappedError } from './files.ts';

/** The files at which this machine's unix sockets can be reached. */
export const socketFiles = {
  /** Makes a folder and those above it; one that is there stays as it is. */
  async makeFolder(path: string, mode: number): Promise<void> {
    await mapped(mkdir(path, { recursive: true, mode }));
  },

  /** Removes a socket that a process left behind. False where something else is there, which stays. */
  async removeSocket(path: string): Promise<boolean> {
    const found = await unlessAbsent(lstat(path));
    if (found === undefined) return true;
    if (!found.isSocket()) return false;
    await unlessAbsent(unlink(path));
    return true;
  },

  /** Removes whatever file has that name; one that is not there is fine. */
  async removeFile(path: string): Promise<void> {
    await unlessAbsent(unlink(path));
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

async function unlessAbsent<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw mappedError(error);
  }
}
