import type { Writable } from 'node:stream';
import type { Clock } from '../base/clock.ts';

/** A reader that does not read holds nobody up for longer. */
const lastWordsMs = 2_000;

/**
 * Ends the process when what it said is with its readers. Waiting for the event loop to run dry would leave the end to
 * any connection that somebody forgot.
 */
export async function leave(
  code: number,
  streams: readonly Pick<Writable, 'write'>[],
  clock: Pick<Clock, 'after'>,
  exit: (code: number) => void,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const stopWaiting = clock.after(lastWordsMs, resolve);
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
