import type { Readable } from 'node:stream';

const changes = ['readable', 'end', 'close', 'error'] as const;

/**
 * The pieces of a stream until it ends or is torn down; `readableEnded` distinguishes the two. The iterator that
 * streams have themselves takes an HTTP/2 stream that closed before all of it was read for one that was torn down, at
 * least in Node.js 24.20 and 26.3.
 */
export async function* streamPieces(stream: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  let wake = (): void => {};
  const onChange = (): void => wake();
  for (const change of changes) stream.on(change, onChange);
  try {
    for (;;) {
      const piece = stream.read() as Uint8Array | null;
      if (piece !== null) yield piece;
      else if (stream.errored) throw stream.errored;
      else if (stream.readableEnded || stream.destroyed) return;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    for (const change of changes) stream.off(change, onChange);
  }
}
