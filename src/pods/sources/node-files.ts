import { watch, type BigIntStats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { TubeletError, type ErrorKind } from '../../base/errors.ts';
import type { FileInfo, Files } from './ports.ts';

/** The file system of this machine. */
export const nodeFiles: Files = {
  readdir: (path) => mapped(path, readdir(path)),
  readFile: (path) => mapped(path, readFile(path)),

  async stat(path) {
    return toInfo(await mapped(path, stat(path, { bigint: true })));
  },

  watch(path, onChange, onError) {
    try {
      const watcher = watch(path, (event, name) =>
        onChange(name ?? undefined, event === 'rename' ? 'entry' : 'content'),
      );
      watcher.on('error', (error) => onError(toTubeletError(path, error)));
      return () => watcher.close();
    } catch (error) {
      throw toTubeletError(path, error);
    }
  },
};

function toInfo(stats: BigIntStats): FileInfo {
  // Inode numbers are used again soon after a deletion; the time of birth tells the two apart.
  const identity = `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`;
  return {
    kind: stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other',
    size: Number(stats.size),
    identity,
    version: `${identity}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`,
  };
}

async function mapped<T>(path: string, outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    throw toTubeletError(path, error);
  }
}

const kindOfCode: Readonly<Record<string, ErrorKind>> = {
  ENOENT: 'notFound',
  ENOTDIR: 'notFound',
  EACCES: 'denied',
  EPERM: 'denied',
  // inotify: no more watches for this user.
  ENOSPC: 'exhausted',
  EMFILE: 'exhausted',
};

function toTubeletError(path: string, error: unknown): TubeletError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return new TubeletError(kindOfCode[code] ?? 'internal', `cannot read ${path}`, { cause: error });
}
