import { watch } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { TubeletError, type ErrorKind } from '../base/errors.ts';
import type { RegistryEntry } from '../model/file-facts.ts';

const folderMode = 0o755;

/**
 * The folder in which plugins make their registration sockets. Failures are TubeletErrors; `notFound`: it is missing.
 */
export const registryFiles = {
  async makeFolder(path: string): Promise<void> {
    await mapped(path, mkdir(path, { recursive: true, mode: folderMode }));
  },

  /** Folders and sockets in a folder, nothing else; links are followed to sockets, not to folders. */
  async list(path: string): Promise<readonly RegistryEntry[]> {
    const entries = await mapped(path, readdir(path, { withFileTypes: true }));
    const found = entries.map(async (entry): Promise<readonly RegistryEntry[]> => {
      if (entry.isDirectory()) return [{ name: entry.name, kind: 'folder' }];
      const isSocket = entry.isSocket() || (entry.isSymbolicLink() && (await leadsToSocket(`${path}/${entry.name}`)));
      return isSocket ? [{ name: entry.name, kind: 'socket' }] : [];
    });
    return (await Promise.all(found)).flat();
  },

  /** Changes when another file or folder takes over the path. */
  async identify(path: string): Promise<string> {
    const { dev, ino, birthtimeNs } = await mapped(path, stat(path, { bigint: true }));
    // Inode numbers are reused soon after a deletion; the time of birth distinguishes the files.
    return `${dev}:${ino}:${birthtimeNs}`;
  },

  /** Throws when the folder cannot be watched. The returned function ends the watch. */
  watch(path: string, onChange: () => void, onError: (error: unknown) => void): () => void {
    try {
      const watcher = watch(path, () => onChange());
      watcher.on('error', (error) => onError(toTubeletError(path, error)));
      return () => watcher.close();
    } catch (error) {
      throw toTubeletError(path, error);
    }
  },
};

async function leadsToSocket(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isSocket();
  } catch {
    // A link to a missing file is not a socket.
    return false;
  }
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
