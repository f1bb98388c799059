import { constants } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TubeletError } from '../base/errors.ts';

/** Linux: a descriptor that names a file without opening it. */
const oPath = 0o10000000;

/**
 * Does something to the files of a log, in the folder `<logs>/<pod>/<container>` of its path. `work` gets the folder by its
 * descriptor, so that it cannot be swapped. The folder of all logs may be named through links of the node; a link below it
 * was planted by a container that has it as a volume, and would have us rotate and remove the files of others.
 */
export async function inLogFolder<T>(path: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = dirname(path);
  const handle = await open(folder, oPath | constants.O_DIRECTORY);
  const shown = `/proc/self/fd/${handle.fd}`;
  try {
    const root = await realpath(dirname(dirname(folder)));
    if ((await readlink(shown)) !== join(root, basename(dirname(folder)), basename(folder))) {
      throw new TubeletError('denied', `${folder} is reached through a link`);
    }
    return await work(shown);
  } catch (error) {
    if (error instanceof Error && !(error instanceof TubeletError))
      error.message = error.message.replaceAll(shown, folder);
    throw error;
  } finally {
    await handle.close();
  }
}
