import { mkdir, open, readFile, realpath, rename, symlink, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf, TubeletError, type ErrorKind } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { CertificateFiles } from './ports.ts';

const kinds: Readonly<Record<string, ErrorKind>> = {
  ENOENT: 'notFound',
  ENOTDIR: 'notFound',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENOSPC: 'exhausted',
  EDQUOT: 'exhausted',
};

/** The disk of this machine. */
export function hostCertificateFiles(random: Random): CertificateFiles {
  const beside = (path: string): string => join(dirname(path), `.${basename(path)}.${random.hex(6)}.tmp`);
  return {
    readText: (path) => mapped(() => readFile(path, 'utf8')),

    async replace(path, text, mode) {
      const temporary = beside(path);
      await mapped(() =>
        swapIn(temporary, path, async () => {
          // A key must never exist with a wider mode, not even for a moment.
          const file = await open(temporary, 'wx', mode);
          try {
            await file.chmod(mode);
            await file.writeFile(text);
            await file.sync();
          } finally {
            await file.close();
          }
        }),
      );
    },

    async link(target, path) {
      const temporary = beside(path);
      await mapped(() => swapIn(temporary, path, () => symlink(target, temporary)));
    },

    putAside: (path) =>
      mapped(async () => {
        const real = await realpath(path);
        const aside = `${real}.damaged`;
        await rename(real, aside);
        return aside;
      }),

    remove: (path) => mapped(() => removeFile(path)),

    async makeFolder(path, mode) {
      await mapped(() => mkdir(path, { recursive: true, mode }));
    },
  };
}

/** Renames what `make` created under a name of its own to `path`, and syncs the folder. */
async function swapIn(temporary: string, path: string, make: () => Promise<void>): Promise<void> {
  try {
    await make();
    await rename(temporary, path);
  } catch (error) {
    await removeFile(temporary);
    throw error;
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** A missing file is no error. */
async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function mapped<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const kind = kinds[(error as NodeJS.ErrnoException).code ?? ''] ?? 'internal';
    throw new TubeletError(kind, messageOf(error), { cause: error });
  }
}
