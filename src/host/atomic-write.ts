import { lstat, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Random } from '../base/random.ts';

interface AtomicWriteOptions {
  /** The exact mode of the file; the umask is overridden. */
  readonly mode: number;
  readonly random: Random;
}

/** Temporary files that this process is writing; a file of another name was left by a writer that was killed. */
const underWay = new Set<string>();
const randomBytes = 6;
const randomPart = /^[0-9a-f]{12}$/;
const ending = '.tmp';

/**
 * Replaces a file so that a reader, and a machine that loses power, sees either the old content or the new, never a
 * part. The new content is written beside the old one under a name of its own, synced to disk, and renamed over it.
 * Files that killed writers of the same file have left are removed first.
 */
export async function atomicWrite(path: string, data: string | Uint8Array, options: AtomicWriteOptions): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `${prefixOf(path)}${options.random.hex(randomBytes)}${ending}`);
  await removeUnfinished(path);
  underWay.add(temporary);
  try {
    // A file of this name that exists already was not made by this writer, so only a successful open makes it ours.
    const file = await open(temporary, 'wx', options.mode);
    try {
      await fill(file, data, options.mode);
      await rename(temporary, path);
    } catch (error) {
      await unlink(temporary);
      throw error;
    }
  } finally {
    underWay.delete(temporary);
  }
  await syncFolder(folder);
}

/** Removes a file that `atomicWrite` wrote, with what killed writers of it have left. A missing file is no error. */
export async function atomicRemove(path: string): Promise<void> {
  await removeUnfinished(path);
  await ignoreNotFound(unlink(path));
}

const prefixOf = (path: string): string => `.${basename(path)}.`;

/** Only plain files of our own names: a link or folder of such a name was made by another program. */
async function removeUnfinished(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = prefixOf(path);
  for (const name of (await ignoreNotFound(readdir(folder))) ?? []) {
    if (!name.startsWith(prefix) || !name.endsWith(ending)) continue;
    if (!randomPart.test(name.slice(prefix.length, -ending.length))) continue;
    const left = join(folder, name);
    if (underWay.has(left) || (await ignoreNotFound(lstat(left)))?.isFile() !== true) continue;
    await ignoreNotFound(unlink(left));
  }
}

async function ignoreNotFound<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

async function fill(file: FileHandle, data: string | Uint8Array, mode: number): Promise<void> {
  try {
    await file.chmod(mode);
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A rename survives a power failure only after its folder has been synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
