import { constants } from 'node:fs';
import { chmod, mkdir, readdir, open, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { TubeletError, type ErrorKind } from '../base/errors.ts';
import { systemRandom } from '../base/system-random.ts';
import { atomicRemove, atomicWrite } from './atomic-write.ts';
import { namesInPortions } from './folder-names.ts';
import { safeRemove } from './safe-remove.ts';

const random = systemRandom();

/** The real file system behind the small ports of components. Modes are exact: the umask is overridden. */
export const hostFiles = {
  /** Makes a folder and those above it; an existing one gets the mode. */
  async makeFolder(path: string, mode: number): Promise<void> {
    await mapped(async () => {
      const full = resolve(path);
      const highest = (await mkdir(full, { recursive: true, mode })) ?? full;
      // The umask applies to every folder that was made, not only to the last.
      for (let made = full; made.length >= highest.length; made = dirname(made)) await chmod(made, mode);
    });
  },

  /** Writes in place: the file may be mounted into a container, which would keep the old one after a rename. */
  async writeFile(path: string, content: string, mode: number): Promise<void> {
    await mapped(async () => {
      await writeFile(path, content, { mode });
      await chmod(path, mode);
    });
  },

  /** A reader, and a machine that loses power, sees the old content or the new one, never a part. */
  replaceFile(path: string, content: string, mode: number): Promise<void> {
    return mapped(() => atomicWrite(path, content, { mode, random }));
  },

  /** Removes a file that `replaceFile` wrote. A missing file is no error. */
  removeFile(path: string): Promise<void> {
    return mapped(() => atomicRemove(path));
  },

  readText(path: string): Promise<string> {
    return mapped(() => readFile(path, 'utf8'));
  },

  /** The end of a file, at most so many bytes of it. Does not follow links and does not wait for pipes. */
  async readEnd(path: string, bytes: number): Promise<string> {
    return mapped(async () => {
      const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const { size } = await file.stat();
        const buffer = Buffer.alloc(Math.min(size, bytes));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, Math.max(0, size - bytes));
        return buffer.toString('utf8', 0, bytesRead);
      } finally {
        await file.close();
      }
    });
  },

  /**
   * Names in a folder; empty when the folder is missing. With `keep` only names that it accepts, and no more than a
   * portion of the others at a time: other programs may fill such folders.
   */
  async list(path: string, keep?: (name: string) => boolean): Promise<readonly string[]> {
    try {
      if (keep === undefined) return await readdir(path);
      const kept: string[] = [];
      for await (const names of namesInPortions(path)) kept.push(...names.filter(keep));
      return kept;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw mappedError(error);
    }
  },

  removeTree(path: string): Promise<void> {
    return safeRemove(path);
  },

  /** Removes an empty folder; fails if anything is in it or mounted on it. */
  async removeEmpty(path: string): Promise<void> {
    try {
      await rmdir(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw mappedError(error);
    }
  },
};

const kinds: Readonly<Record<string, ErrorKind>> = {
  ENOENT: 'notFound',
  EEXIST: 'alreadyExists',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENOSPC: 'exhausted',
  EDQUOT: 'exhausted',
  EMFILE: 'exhausted',
  EBUSY: 'conflict',
  ENOTEMPTY: 'conflict',
};

async function mapped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw mappedError(error);
  }
}

export function mappedError(error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof TubeletError || code === undefined) return error;
  return new TubeletError(kinds[code] ?? 'internal', (error as Error).message, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
