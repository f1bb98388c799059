import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { BodySink, RouteResponse } from '../route.ts';

/** A JSON text that is mostly one list. */
interface ListText {
  readonly before: string;
  readonly items: readonly unknown[];
  readonly after: string;
}

const contentType = 'application/json';
/** Short lists are written at once, with their length ahead of them. */
const maxAtOnce = 16;
/** Characters that are made before other work runs: about a millisecond's work. */
const maxSliceLength = 64 * 1024;
/** Characters of one write: each costs a tenth of a millisecond, whatever its length. */
const maxPieceLength = 256 * 1024;

/** The list as an answer; a long one goes out in pieces, so that no other request waits for all of it. */
export function listAnswer(list: ListText): RouteResponse {
  if (list.items.length <= maxAtOnce) {
    const items = Array.from(list.items, (item) => JSON.stringify(item)).join(',');
    return { kind: 'page', status: 200, contentType, body: `${list.before}${items}${list.after}` };
  }
  return { kind: 'stream', status: 200, contentType, send: (sink, signal) => sendList(list, sink, signal) };
}

async function sendList({ before, items, after }: ListText, sink: BodySink, signal: AbortSignal): Promise<void> {
  let piece = before;
  let separator = '';
  let sliceLength = 0;
  for (const item of items) {
    const text = separator + JSON.stringify(item);
    separator = ',';
    sliceLength += text.length;
    if (piece.length + text.length > maxPieceLength) {
      await sink.write(piece);
      piece = '';
    }
    piece += text;
    // A client with room for everything lets the write return at once, which by itself lets no other work run.
    if (sliceLength >= maxSliceLength) {
      await yieldToEventLoop();
      signal.throwIfAborted();
      sliceLength = 0;
    }
  }
  if (piece.length + after.length > maxPieceLength) {
    await sink.write(piece);
    piece = '';
  }
  await sink.write(piece + after);
}
