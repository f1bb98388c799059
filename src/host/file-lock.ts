import { close as closeWithCallback, constants, open as openWithCallback } from 'node:fs';
import { getSystemErrorName, promisify } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { libcError, loadLibc } from './libc.ts';

const open = promisify(openWithCallback);
const close = promisify(closeWithCallback);

const lockExclusive = 2;
const lockWithoutWaiting = 4;
const defaultRetryMs = 500;

interface FileLockOptions {
  readonly clock: Clock;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
  readonly retryMs?: number;
  /** Called once when another process holds the lock. */
  readonly onWait?: () => void;
}

export interface FileLock {
  readonly path: string;
  /** Releases the lock; may be called twice. The kernel releases it too when the process ends, in whatever way. */
  release(): Promise<void>;
}

/**
 * Takes the flock(2) lock of a file, which is made if it is missing, and waits while another process has it. The wait
 * polls, because a blocking call would occupy a thread that cannot be interrupted.
 */
export async function acquireFileLock(path: string, options: FileLockOptions): Promise<FileLock> {
  const { clock, signal, retryMs = defaultRetryMs } = options;
  signal?.throwIfAborted();
  const libc = await loadLibc();
  // A bare descriptor: a FileHandle would be closed by garbage collection, and the lock lost.
  const fd = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  let waited = false;
  try {
    while (libc.flock(fd, lockExclusive | lockWithoutWaiting) === -1) {
      const code = getSystemErrorName(-libc.errno());
      if (code !== 'EAGAIN' && code !== 'EINTR') throw libcError(libc, 'flock', path);
      if (!waited) options.onWait?.();
      waited = true;
      await clock.sleep(retryMs, signal);
    }
  } catch (error) {
    await close(fd);
    throw error;
  }
  let held = true;
  return {
    path,
    release: async () => {
      if (!held) return;
      held = false;
      await close(fd);
    },
  };
}
