import { open, rename, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Random } from '../base/random.ts';

export interface AtomicWriteOptions {
  /** The mode of the file, whatever the umask says. */
  readonly mode: number;
  readonly random: Random;
}

/**
 * Replaces a file so that a reader, and a machine that loses power, sees either the old content or the new, never a part.
 * The new content is written beside the old under a name of its own, brought to the disk, and renamed over it.
 */
export async function atomicWrite(path: string, data: string | Uint8Array, options: AtomicWriteOptions): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${options.random.hex(6)}.tmp`);
  // Not made by us until it is open: a name that is taken belongs to somebody else.
  const file = await open(temporary, 'wx', options.mode);
  try {
    await fill(file, data, options.mode);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary);
    throw error;
  }
  await syncFolder(folder);
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

/** The rename itself is on the disk only when the folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
