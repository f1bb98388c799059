import { closeSync, openSync, readSync } from 'node:fs';
import { TubeletError } from '../base/errors.ts';

/**
 * Pseudo-files are many and small, so they are read into one permanent buffer: half the cost of a general read, which
 * asks for a size that the kernel does not know and allocates memory for each file.
 */
const buffer = Buffer.allocUnsafeSlow(256 * 1024);

/** The kernel returns about a page per read; a result shorter than half a page is the whole file. */
const certainlyWholeBytes = 2_048;

/** Codes with which the kernel reports that a value does not exist or is not counted. */
const missingCodes = new Set(['ENOENT', 'ENODEV', 'ESRCH', 'EOPNOTSUPP', 'EINVAL', 'ENOTDIR', 'EACCES', 'EPERM']);

/** The text of a file of /proc, /sys or a cgroup; undefined where there is none. Truncated after 256 KiB. */
export function readPseudoFile(path: string): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      return readOpenFile(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return undefinedIfMissing(error, path);
  }
}

/** The text of an open file from its beginning: the kernel makes the contents anew for such a reading. */
export function readOpenFile(file: number): string {
  return buffer.toString('latin1', 0, readInto(file));
}

/** The result of a read; undefined where the kernel has no value. */
export function readOptional<T>(ask: () => T, what: string): T | undefined {
  try {
    return ask();
  } catch (error) {
    return undefinedIfMissing(error, what);
  }
}

/** Undefined where the kernel has no value; other errors are thrown. For frequent callers, which avoid a closure. */
export function undefinedIfMissing(error: unknown, what: string): undefined {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  if (missingCodes.has(code)) return undefined;
  throw new TubeletError('internal', `cannot read ${what}: ${code}`, { cause: error });
}

function readInto(file: number): number {
  let length = readSync(file, buffer, 0, buffer.length, 0);
  if (length < certainlyWholeBytes) return length;
  for (;;) {
    const more = length === buffer.length ? 0 : readSync(file, buffer, length, buffer.length - length, length);
    if (more === 0) return length;
    length += more;
  }
}
