import { constants, createGzip } from 'node:zlib';
import { raceAbort } from '../../base/abort.ts';
import type { BodySink } from '../route.ts';

/** Compresses what is written on its way to another sink; waits for that one, so that nothing piles up. */
export async function throughGzip(sink: BodySink, work: (sink: BodySink) => Promise<void>): Promise<void> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  /** Aborts, with the reason, when the other end takes no more. */
  const broken = new AbortController();
  const pump = async (): Promise<void> => {
    for await (const chunk of gzip) await sink.write(chunk as Uint8Array);
  };
  const pumped = pump().catch((error: unknown) => broken.abort(error));
  const write = (chunk: Uint8Array | string): Promise<void> => {
    // Answered when the bytes were taken in, which waits for room at the other end.
    const taken = new Promise<void>((resolve, reject) => {
      gzip.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
    return raceAbort(taken, broken.signal);
  };
  try {
    await work({ write });
    gzip.end();
    await pumped;
    broken.signal.throwIfAborted();
  } finally {
    gzip.destroy();
    await pumped;
  }
}

/** Whether a client takes compressed answers. */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  return [header ?? []]
    .flat()
    .flatMap((line) => line.split(','))
    .some((coding) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding));
}
