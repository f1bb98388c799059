import { closeSync, openSync, readSync } from 'node:fs';
import { TubeletError } from '../base/errors.ts';

/**
 * Pseudo-files are many and small, so they are read into one buffer that is always there: half the cost of a general
 * read, which asks for a size that the kernel does not know and takes fresh memory for each file.
 */
const buffer = Buffer.allocUnsafeSlow(256 * 1024);

/** The kernel fills about a page before it makes a reader come back; what is shorter than half of one is all there is. */
const surelyWhole = 2_048;

/** What the kernel does not tell, be it that the thing is gone or that it does not count it. */
const untold = new Set(['ENOENT', 'ENODEV', 'ESRCH', 'EOPNOTSUPP', 'EINVAL', 'ENOTDIR', 'EACCES', 'EPERM']);

/** What is made of the bytes of a file, which are gone with the next file. */
export interface FileForm<T> {
  of(bytes: Buffer, length: number): T;
}

export const asText: FileForm<string> = { of: (bytes, length) => bytes.toString('latin1', 0, length) };

/** The text of a file of /proc, /sys or a cgroup; undefined where there is none. What is beyond 256 KiB is left out. */
export function readPseudoFile(path: string): string | undefined {
  return readPseudoFileAs(asText, path);
}

/** The same in another form. */
export function readPseudoFileAs<T>(form: FileForm<T>, path: string): T | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      return readOpenFile(form, file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return noAnswer(error, path);
  }
}

/** One that is open, from its beginning: the kernel tells its contents anew to whoever begins there. */
export function readOpenFile<T>(form: FileForm<T>, file: number): T {
  const length = readInto(file);
  return form.of(buffer, length);
}

/** The answer of the kernel; undefined where it has none. */
export function told<T>(ask: () => T, what: string): T | undefined {
  try {
    return ask();
  } catch (error) {
    return noAnswer(error, what);
  }
}

/** Undefined where the kernel has no answer; what else went wrong is thrown. For who asks too often to pass a function. */
export function noAnswer(error: unknown, what: string): undefined {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  if (untold.has(code)) return undefined;
  throw new TubeletError('internal', `cannot read ${what}: ${code}`, { cause: error });
}

function readInto(file: number): number {
  let length = readSync(file, buffer, 0, buffer.length, 0);
  if (length < surelyWhole) return length;
  for (;;) {
    const more = length === buffer.length ? 0 : readSync(file, buffer, length, buffer.length - length, length);
    if (more === 0) return length;
    length += more;
  }
}
