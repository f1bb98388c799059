import { renameSync } from 'node:fs';
import { systemRandom } from '../base/system-random.ts';

/** Random names are hardly ever in use. */
const maxTries = 10;
/** Another directory or file has the name; an empty directory would have been replaced. */
const taken = new Set(['EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EISDIR']);
const random = systemRandom();

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** The path of an entry as seen from an open directory, wherever that has been moved meanwhile. */
export function entryPath(directory: { readonly fd: number }, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory.fd}/`), name]);
}

/** Moves an entry into a directory, never over one that has something in it. A missing entry is no error. */
export function moveAway(path: Buffer, to: { readonly fd: number }): void {
  for (let tries = 1; ; tries++) {
    try {
      return renameSync(path, entryPath(to, Buffer.from(`..moved-${random.hex(8)}`)));
    } catch (error) {
      const code = codeOf(error) ?? '';
      if (code === 'ENOENT') return;
      if (!taken.has(code) || tries === maxTries) throw error;
    }
  }
}
