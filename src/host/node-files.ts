import { watch, type BigIntStats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { TubeletError, type ErrorKind } from '../base/errors.ts';
import type { FileInfo } from '../model/file-facts.ts';

/** `entry`: the name came, went or was taken over by another file. `content`: its file was written to. */
type OnPathChange = (name: string | undefined, kind: 'entry' | 'content') => void;

/** Files of this machine that others change while they are read. */
export const nodeFiles = {
  readdir: (path: string): Promise<readonly string[]> => mapped(path, readdir(path)),
  readFile: (path: string): Promise<Uint8Array> => mapped(path, readFile(path)),

  async stat(path: string): Promise<FileInfo> {
    return toInfo(await mapped(path, stat(path, { bigint: true })));
  },

  /** Reports each change in a folder, in order, by the name of the entry where the system gives one. */
  watch(path: string, onChange: OnPathChange, onError: (error: unknown) => void): () => void {
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
  // Inode numbers are reused soon after a deletion; the time of birth distinguishes the files.
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
