import type { Writable } from 'node:stream';
import type { Clock } from '../base/clock.ts';

/** A reader that does not read delays the exit at most this long. */
const flushTimeoutMs = 2_000;

/**
 * Ends the process after its output is written. Waiting for the event loop to run dry would exitAfterFlush the end to
 * any connection that is still open.
 */
export async function exitAfterFlush(
  code: number,
  streams: readonly Pick<Writable, 'write'>[],
  clock: Pick<Clock, 'after'>,
  exit: (code: number) => void,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const stopWaiting = clock.after(flushTimeoutMs, resolve);
    const written = streams.map(
      (stream) =>
        new Promise<void>((done) => {
          stream.write('', () => done());
        }),
    );
    void Promise.all(written).then(() => {
      stopWaiting();
      resolve();
    });
  });
  exit(code);
}
