import type { BodySink, RouteResponse } from '../route.ts';

/** A JSON text that is mostly one list. */
export interface ListText {
  readonly before: string;
  readonly items: readonly unknown[];
  readonly after: string;
}

const contentType = 'application/json';
/** Short lists are written at once, with their length ahead of them. */
const mostAtOnce = 16;
/** About how much is written before others get their turn: a millisecond's work. */
const turnLength = 64 * 1024;

/** The list as an answer; a long one goes out in pieces, so that nobody else waits for all of it. */
export function listAnswer(list: ListText): RouteResponse {
  if (list.items.length <= mostAtOnce) {
    const items = list.items.map((item) => JSON.stringify(item)).join(',');
    return { kind: 'page', status: 200, contentType, body: `${list.before}${items}${list.after}` };
  }
  return { kind: 'stream', status: 200, contentType, send: (sink, signal) => sendList(list, sink, signal) };
}

async function sendList({ before, items, after }: ListText, sink: BodySink, signal: AbortSignal): Promise<void> {
  let waiting = before;
  for (const [index, item] of items.entries()) {
    waiting += `${index === 0 ? '' : ','}${JSON.stringify(item)}`;
    if (waiting.length < turnLength) continue;
    await sink.write(waiting);
    waiting = '';
    // A client with room for everything lets the write return at once, which by itself ends no turn.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    signal.throwIfAborted();
  }
  await sink.write(`${waiting}${after}`);
}
