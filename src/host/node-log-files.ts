import { constants, watch } from 'node:fs';
import {
  access,
  link,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  rename,
  symlink,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { TubeletError, type ErrorKind } from '../base/errors.ts';
import { LastNames } from '../base/last-names.ts';
import { inLogFolder } from './container-log-folder.ts';

/** More files of one log than are ever kept; names that sort before them are handled when these have been removed. */
const maxNames = 10_000;
const namesAtATime = 256;

/**
 * The logs on this machine. A container that can write into the folder of logs must not make the agent read elsewhere:
 * links in place of logs are refused, and new files are made only under free names.
 */
export const nodeLogFiles = {
  /** In bytes; undefined when the file is missing. */
  async size(path: string): Promise<number | undefined> {
    const stats = await ignoreNotFound(inLogFolder(path, (folder) => lstat(join(folder, basename(path)))));
    return stats?.isFile() === true ? stats.size : undefined;
  },

  /** Names in a folder with this beginning, the last ones if there are very many; empty when the folder is missing. */
  async list(folder: string, beginning: string): Promise<readonly string[]> {
    const last = new LastNames(maxNames);
    for await (const name of nodeLogFiles.names(folder)) if (name.startsWith(beginning)) last.add(name);
    return last.all();
  },

  async *names(folder: string): AsyncGenerator<string, void, undefined> {
    const open = await ignoreNotFound(opendir(folder, { bufferSize: namesAtATime }));
    if (open === undefined) return;
    for await (const { name } of open) yield name;
  },

  rename: (from: string, to: string): Promise<void> =>
    mapped(inLogFolder(from, (folder) => rename(join(folder, basename(from)), join(folder, basename(to))))),

  /** Fails with `alreadyExists` where there is something at the new name. */
  async renameBack(from: string, to: string): Promise<void> {
    await mapped(
      inLogFolder(from, async (folder) => {
        await link(join(folder, basename(from)), join(folder, basename(to)));
        await unlink(join(folder, basename(from)));
      }),
    );
  },

  async remove(path: string): Promise<void> {
    await ignoreNotFound(inLogFolder(path, (folder) => unlink(join(folder, basename(path)))));
  },

  /** Into a new file of the same mode. Memory does not grow with the file. */
  async compress(from: string, to: string, signal: AbortSignal): Promise<void> {
    await mapped(inLogFolder(from, (folder) => compressIn(folder, basename(from), basename(to), signal)));
  },

  async read(path: string, start: number, length: number): Promise<Buffer> {
    const file = await openLog(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  },

  /** The last bytes of what is in a compressed file. Memory does not grow with the file. */
  async readCompressedEnd(path: string, length: number): Promise<Buffer> {
    const file = await openLog(path);
    try {
      let end = Buffer.alloc(0);
      await mapped(
        pipeline(file.createReadStream({ autoClose: false }), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
          for await (const chunk of chunks) {
            const both = end.length + chunk.length;
            // Copied only when it has grown to twice the size, not for every chunk.
            end = Buffer.concat([both > 2 * length ? end.subarray(Math.max(0, end.length - length)) : end, chunk]);
          }
        }),
      );
      return end.subarray(Math.max(0, end.length - length));
    } finally {
      await file.close();
    }
  },

  async removeLink(path: string): Promise<void> {
    await ignoreNotFound(unlink(path));
  },

  async makeFolder(path: string, mode: number): Promise<void> {
    await mapped(mkdir(path, { recursive: true, mode }));
  },

  async readLink(path: string): Promise<string | undefined> {
    try {
      return await readlink(path);
    } catch (error) {
      // Not a link.
      if (codeOf(error) === 'EINVAL' || codeOf(error) === 'ENOENT') return undefined;
      throw mappedError(error);
    }
  },

  async exists(path: string): Promise<boolean> {
    return (await ignoreNotFound(access(path).then(() => true))) ?? false;
  },

  link: (path: string, target: string): Promise<void> => mapped(symlink(target, path)),

  watch(path: string, onChange: () => void): () => void {
    try {
      const watcher = watch(path, { persistent: false }, () => onChange());
      watcher.on('error', () => onChange());
      return () => watcher.close();
    } catch (error) {
      throw mappedError(error);
    }
  },
};

async function compressIn(folder: string, from: string, to: string, signal: AbortSignal): Promise<void> {
  const source = await openPlain(join(folder, from));
  try {
    const mode = (await source.stat()).mode & 0o777;
    const target = await open(join(folder, to), 'wx', mode);
    // The umask took its share.
    await target.chmod(mode);
    // Synced before the file gets its name, because its source is removed right after.
    const sink = target.createWriteStream({ flush: true });
    await pipeline(source.createReadStream({ autoClose: false }), createGzip(), sink, { signal });
  } finally {
    await source.close();
  }
}

const openLog = (path: string): Promise<FileHandle> =>
  mapped(inLogFolder(path, (folder) => openPlain(join(folder, basename(path)))));

/** A plain file; does not wait for a writer, as opening a pipe would. */
async function openPlain(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new TubeletError('denied', `${basename(path)} is not a file`);
}

const kinds: Readonly<Record<string, ErrorKind>> = {
  ENOENT: 'notFound',
  ENOTDIR: 'notFound',
  EEXIST: 'alreadyExists',
  EACCES: 'denied',
  EPERM: 'denied',
  ELOOP: 'denied',
  EROFS: 'denied',
  ENOSPC: 'exhausted',
  EDQUOT: 'exhausted',
  EMFILE: 'exhausted',
};

async function mapped<T>(outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    throw mappedError(error);
  }
}

async function ignoreNotFound<T>(outcome: Promise<T>): Promise<T | undefined> {
  try {
    return await outcome;
  } catch (error) {
    const mappedToKind = mappedError(error);
    if (mappedToKind instanceof TubeletError && mappedToKind.kind === 'notFound') return undefined;
    throw mappedToKind;
  }
}

function mappedError(error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof TubeletError || code === undefined || !(error instanceof Error)) return error;
  const kind = error.name === 'AbortError' ? 'cancelled' : (kinds[code] ?? 'internal');
  return new TubeletError(kind, error.message, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
