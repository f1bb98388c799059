import { constants, fstatSync, openSync, writeSync } from 'node:fs';

const standardError = 2;
let descriptor: number | undefined;

/**
 * A descriptor of standard error on which writing never waits for a reader. A file is taken as it is. A pipe or terminal
 * is opened anew, so that other processes that write to the same one keep waiting as they expect; a socket, as the
 * journal gives one, cannot be opened anew and stops waiting for all.
 */
function openStandardError(): number {
  const stats = fstatSync(standardError);
  if (stats.isFile()) return standardError;
  try {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
    return openSync(`/proc/self/fd/${standardError}`, flags);
  } catch {
    // Node's own stream for it does not wait either, from the moment at which it is made.
    void process.stderr;
    return standardError;
  }
}

/** Writes what there is room for, and answers how many bytes. */
export function tryStandardError(bytes: Uint8Array): number {
  descriptor ??= openStandardError();
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}

/** Waits without the event loop. */
export function pauseThread(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
