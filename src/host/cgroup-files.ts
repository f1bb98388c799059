import { closeSync, constants, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { TubeletError, type ErrorKind } from '../base/errors.ts';

/** Never makes a file: a setting that the kernel does not offer must not appear as if it had been applied. */
export function writeInto(path: string, text: string): void {
  const file = openSync(path, constants.O_WRONLY | constants.O_TRUNC);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** Without the line end; nothing when the file or the whole cgroup is not there. */
export function textIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENODEV') return undefined;
    throw failure(error, `cannot read ${path}`);
  }
}

export const wordsIn = (path: string): readonly string[] =>
  (textIn(path) ?? '').split(' ').filter((word) => word !== '');

export function foldersIn(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw failure(error, `cannot list ${directory}`);
  }
}

const kinds: Readonly<Record<string, ErrorKind>> = {
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  EBUSY: 'conflict',
  EINVAL: 'invalid',
  ERANGE: 'invalid',
  ENOENT: 'unsupported',
  ENODEV: 'notFound',
  ENOSPC: 'exhausted',
};

export function failure(error: unknown, what: string): TubeletError {
  const code = codeOf(error) ?? '';
  return new TubeletError(kinds[code] ?? 'internal', `${what}: ${code || String(error)}`, { cause: error });
}

export const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
