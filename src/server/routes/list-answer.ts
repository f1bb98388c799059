import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { BodySink, RouteResponse } from '../route.ts';

/** A JSON text that is mostly one list, whose entries may be made while they are iterated. */
interface ListText {
  readonly before: string;
  readonly items: Iterable<unknown> & { readonly length: number };
  readonly after: string;
}

const contentType = 'application/json';
/** Short lists are written at once, with their length ahead of them. */
const maxAtOnce = 16;
/** About how much is made before others get their turn: a millisecond's work. */
const turnBytes = 64 * 1024;
/** How much goes out at once: each time costs a tenth of a millisecond, whatever its size. */
const pieceBytes = 256 * 1024;
/** No character of a text takes more. */
const maxBytesPerUnit = 3;

/** The list as an answer; a long one goes out in pieces, so that no other request waits for all of it. */
export function listAnswer(list: ListText): RouteResponse {
  if (list.items.length <= maxAtOnce) {
    const items = Array.from(list.items, (item) => JSON.stringify(item)).join(',');
    return { kind: 'page', status: 200, contentType, body: `${list.before}${items}${list.after}` };
  }
  return { kind: 'stream', status: 200, contentType, send: (sink, signal) => sendList(list, sink, signal) };
}

async function sendList({ before, items, after }: ListText, sink: BodySink, signal: AbortSignal): Promise<void> {
  const pieces = new Pieces(sink, signal);
  if (!pieces.add(before)) await pieces.sendThenAdd(before);
  let separator = '';
  for (const item of items) {
    const text = JSON.stringify(item);
    if (!pieces.add(separator)) await pieces.sendThenAdd(separator);
    if (!pieces.add(text)) await pieces.sendThenAdd(text);
    if (pieces.isTurnOver) await pieces.otherTurns();
    separator = ',';
  }
  if (!pieces.add(after)) await pieces.sendThenAdd(after);
  await pieces.send();
}

/** Texts as the bytes that go out, each put where it will be: joined as texts they would all be copied once more. */
class Pieces {
  readonly #sink: BodySink;
  readonly #signal: AbortSignal;
  #buffer: Buffer | undefined;
  #end = 0;
  #turnEnd = turnBytes;

  constructor(sink: BodySink, signal: AbortSignal) {
    this.#sink = sink;
    this.#signal = signal;
  }

  /** False where there is no room: the piece has to go first. */
  add(text: string): boolean {
    if (this.#end + text.length * maxBytesPerUnit > pieceBytes) return false;
    this.#buffer ??= Buffer.allocUnsafeSlow(pieceBytes);
    this.#end += this.#buffer.write(text, this.#end);
    return true;
  }

  get isTurnOver(): boolean {
    return this.#end >= this.#turnEnd;
  }

  async otherTurns(): Promise<void> {
    await yieldToEventLoop();
    this.#signal.throwIfAborted();
    this.#turnEnd = this.#end + turnBytes;
  }

  async sendThenAdd(text: string): Promise<void> {
    await this.send();
    // A client with room for everything lets the write return at once, which by itself ends no turn.
    await this.otherTurns();
    if (!this.add(text)) await this.#sink.write(text);
  }

  async send(): Promise<void> {
    const bytes = this.#buffer?.subarray(0, this.#end);
    // The response keeps them until they are sent.
    this.#buffer = undefined;
    this.#end = 0;
    if (bytes !== undefined) await this.#sink.write(bytes);
  }
}
