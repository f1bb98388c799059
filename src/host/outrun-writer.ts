import { readdirSync, renameSync, rmdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** So often the race is run; a writer loses it within a few. All of it takes a few milliseconds. */
const mostTries = 300;
/** So many names are tried for what is moved. */
const mostNames = 1_000;

/** Another directory or file has the name; an empty directory would have been replaced. */
const taken = new Set(['EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EISDIR']);

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** The path of an entry as seen from an open directory, wherever that has been moved meanwhile. */
export function entryPath(directory: { readonly fd: number }, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${directory.fd}/`), name]);
}

export interface Race {
  /** The directory that somebody keeps writing into, and the path by which it is removed. */
  readonly directory: { readonly fd: number };
  readonly path: Buffer;
  /** Where the writer does not look. */
  readonly to: { readonly fd: number };
}

/**
 * Removes a directory that somebody writes into all the time: what is in it is moved to another place, and the directory
 * goes before the next entry can be made. Once it is gone, nobody can write into it any more. Nothing is awaited in
 * between: one moment in which it is empty is enough, and it is short. Answers false for one that lost every time.
 */
export function outrunWriter({ directory, path, to }: Race): boolean {
  for (let tries = 0; tries < mostTries; tries++) {
    try {
      rmdirSync(path);
      return true;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') return true;
      if (code === 'ENOTDIR') return false;
      if (code !== 'ENOTEMPTY') throw error;
    }
    const names = readdirSync(`/proc/self/fd/${directory.fd}`, { encoding: 'buffer' });
    for (const name of names) moveAway(entryPath(directory, name), to);
  }
  return false;
}

/** Moves an entry into a directory, never over one that has something in it. What is gone by then is fine. */
export function moveAway(path: Buffer, to: { readonly fd: number }): void {
  for (let number = 0; number < mostNames; number++) {
    try {
      return renameSync(path, entryPath(to, Buffer.from(`..moved-${number}`)));
    } catch (error) {
      const code = codeOf(error) ?? '';
      if (code === 'ENOENT') return;
      if (!taken.has(code)) throw error;
    }
  }
  throw Object.assign(new Error('no name is left to move it to'), { code: 'EEXIST' });
}

/** Makes a new directory beside others, for what is to be removed from one of them. Answers its name. */
export async function makeAside(parent: string): Promise<string> {
  for (let number = 0; ; number++) {
    const name = `.removed-${number}`;
    try {
      await mkdir(join(parent, name), 0o700);
      return name;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || number >= mostNames) throw error;
    }
  }
}
