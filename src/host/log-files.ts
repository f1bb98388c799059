import { constants, watch, type BigIntStats } from 'node:fs';
import { lstat, open, opendir, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf, TubeletError, type ErrorKind } from '../base/errors.ts';
import { LastNames } from '../base/last-names.ts';
import type { LogFacts, LogEntry } from '../model/file-facts.ts';
import { mappedError } from './files.ts';
import { namesInPortions } from './folder-names.ts';
import { logLocationProblem, logRoot } from './log-location.ts';
import { HostOpenLog } from './open-log.ts';
import { isAbsence, openPath, pathOf } from './path-handle.ts';

/** More rotated files of one log than any runtime keeps. */
const maxNames = 10_000;

/**
 * Logs of containers on this machine. `log-location.ts` decides which links are followed on the way to a log; a
 * resolved path is opened only as long as no link has come into it.
 */
export const hostLogFiles = {
  async resolve(path: string, containerId = ''): Promise<string> {
    const [root, real] = await mapped(Promise.all([realpath(logRoot(path)), realpath(path)]));
    const problem = logLocationProblem({ path, root, real, containerId });
    if (problem !== undefined) throw new TubeletError('denied', problem);
    return real;
  },

  async open(path: string): Promise<HostOpenLog> {
    const plain = await openPlain(path, constants.O_NOFOLLOW);
    // The name in the folder may be another file by now, or missing: the log was rotated. The folder must be the same.
    const location = await mapped(readlink(pathOf(plain.file)));
    if (dirname(location) === dirname(path)) return openLog(plain);
    await plain.file.close();
    throw new TubeletError('denied', `${path} leads elsewhere by now`);
  },

  async stat(path: string): Promise<LogFacts | undefined> {
    const stats = await ignoreNotFound(lstat(path, { bigint: true }));
    return stats === undefined ? undefined : { identity: identityOf(stats), size: Number(stats.size) };
  },

  /** The last of the names with this beginning; a program that fills the folder must not fill the memory. */
  async list(folder: string, beginning: string): Promise<readonly string[]> {
    const last = new LastNames(maxNames);
    const read = async (): Promise<void> => {
      for await (const names of namesInPortions(folder)) {
        for (const name of names) if (name.startsWith(beginning)) last.add(name);
      }
    };
    await ignoreNotFound(read());
    return last.all();
  },

  watch(folder: string, onChange: (name: string | undefined) => void, onError: (error: unknown) => void): () => void {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => onChange(name ?? undefined));
      watcher.on('error', (error) => onError(mappedError(error)));
      return () => watcher.close();
    } catch (error) {
      throw failure(error);
    }
  },
};

export interface HostNodeLog {
  readonly kind: 'file';
  readonly modifiedMs: number;
  readonly size: number;
  read(buffer: Buffer, position: number, length: number): Promise<number>;
  close(): Promise<void>;
}

export interface HostNodeLogFolder {
  readonly kind: 'folder';
  readonly modifiedMs: number;
  /** Up to so many entries, in the order of the folder, and whether there are more. */
  list(maxEntries: number): Promise<{ readonly entries: readonly LogEntry[]; readonly more: boolean }>;
  close(): Promise<void>;
}

/**
 * Opens what exists at a path, if it is really below one of the folders: containers that can write there must not make
 * the agent read the rest of the machine through links. The location is read from the open file, which cannot be
 * swapped any more. `denied` for what lies elsewhere or is neither a file nor a folder.
 */
export async function openNodeLog(path: string, folders: readonly string[]): Promise<HostNodeLog | HostNodeLogFolder> {
  const named = await openPath(await mapped(realpath(path)));
  if (named === undefined) throw new TubeletError('notFound', `${path} is not there`);
  try {
    const location = await readlink(pathOf(named));
    const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
    if (!roots.some((root) => location === root || location.startsWith(root.endsWith('/') ? root : `${root}/`))) {
      throw new TubeletError('denied', `${path} leads out of the folder of logs`);
    }
    const stats = await named.stat({ bigint: true });
    const modifiedMs = Number(stats.mtimeMs);
    if (stats.isDirectory()) {
      return {
        kind: 'folder',
        modifiedMs,
        list: (maxEntries) => listOpen(named, maxEntries),
        close: () => named.close(),
      };
    }
    if (!stats.isFile()) throw notPlain(path);
    const log = openLog(await openPlain(pathOf(named)));
    await named.close();
    return {
      kind: 'file',
      modifiedMs,
      size: Number(stats.size),
      read: (buffer, position, length) => log.read(buffer, position, length),
      close: () => log.close(),
    };
  } catch (error) {
    await named.close();
    throw mappedError(error);
  }
}

async function listOpen(
  folder: FileHandle,
  maxEntries: number,
): Promise<{ readonly entries: readonly LogEntry[]; readonly more: boolean }> {
  const entries: LogEntry[] = [];
  for await (const entry of await mapped(opendir(pathOf(folder), { bufferSize: 256 }))) {
    if (entries.length >= maxEntries) return { entries, more: true };
    entries.push({ name: entry.name, isFolder: entry.isDirectory() });
  }
  return { entries, more: false };
}

interface PlainFile {
  readonly file: FileHandle;
  readonly stats: BigIntStats;
}

/** A plain file; does not wait for a writer, as opening a pipe would. */
async function openPlain(path: string, flags = 0): Promise<PlainFile> {
  const file = await mapped(open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags));
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw notPlain(path);
    return { file, stats };
  } catch (error) {
    await file.close();
    throw mappedError(error);
  }
}

function openLog({ file, stats }: PlainFile): HostOpenLog {
  return new HostOpenLog(file, identityOf(stats));
}

// Names come from clients: names that no file can have, and links that go in circles.
const kinds: Readonly<Record<string, ErrorKind>> = {
  ENOENT: 'notFound',
  ENOTDIR: 'notFound',
  ENAMETOOLONG: 'notFound',
  ELOOP: 'denied',
};

function failure(error: unknown): unknown {
  const kind = kinds[(error as NodeJS.ErrnoException).code ?? ''];
  return kind === undefined ? mappedError(error) : new TubeletError(kind, messageOf(error), { cause: error });
}

const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

const notPlain = (path: string): TubeletError => new TubeletError('denied', `${path} is not a regular file`);

async function mapped<T>(outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    throw failure(error);
  }
}

async function ignoreNotFound<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw mappedError(error);
  }
}
