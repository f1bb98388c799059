import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { TubeletError } from '../base/errors.ts';
import { ListSplitter } from './list-splitter.ts';
import type { TransportAnswer } from './ports.ts';

/** More than any single object has; an endless answer must not fill the memory of the node. */
const maxObjectBytes = 16 * 1024 * 1024;
/** Of a list, unpacked. It is never in memory as a whole, only what is kept of its items. */
const maxListBytes = 512 * 1024 * 1024;
/** So much is read before the event loop gets its turn: some milliseconds. */
const turnBytes = 256 * 1024;

export interface ReadOptions {
  readonly limitBytes?: number;
  /** Gets the length of the body as it was received. */
  readonly onSize?: (bytes: number) => void;
}

/** The whole body as text, unpacked if the server compressed it. */
export async function readBody(answer: TransportAnswer, options: ReadOptions = {}): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of unpacked(answer, { limitBytes: maxObjectBytes, ...options })) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * A list, item by item: each one is parsed and passed to `keep` before the next, and the event loop runs
 * in between. Answers with the list without its items.
 */
export async function readList(
  answer: TransportAnswer,
  keep: (item: unknown) => void,
  options: ReadOptions & { readonly maxItemBytes?: number } = {},
): Promise<unknown> {
  const splitter = new ListSplitter(options.maxItemBytes ?? maxObjectBytes);
  let read = 0;
  for await (const chunk of unpacked(answer, { limitBytes: maxListBytes, ...options })) {
    for (const item of splitter.push(chunk)) {
      keep(parsed(Buffer.from(item.buffer, item.byteOffset, item.byteLength).toString('utf8')));
      if ((read += item.length) < turnBytes) continue;
      read = 0;
      await yieldToEventLoop();
    }
  }
  return parsed(splitter.shell());
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the parser's message: it quotes the text, which may be a Secret.
    throw new TubeletError('unavailable', 'the answer is not JSON');
  }
}

/** The pieces of a body. Its size is limited both as received and unpacked. */
async function* unpacked(
  answer: TransportAnswer,
  { limitBytes = maxObjectBytes, onSize }: ReadOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  const body = bounded(answer.body, limitBytes, onSize);
  if (encoding === 'identity') yield* body;
  else if (encoding === 'gzip') yield* bounded(gunzipped(body), limitBytes);
  // An answer without a body has nothing to unpack.
  else
    for await (const _ of body)
      throw new TubeletError('unavailable', `the answer is packed with ${encoding}, not gzip`);
}

async function* bounded(
  body: AsyncIterable<Uint8Array>,
  limitBytes: number,
  onSize?: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > limitBytes) throw new TubeletError('unavailable', `the answer is longer than ${limitBytes} bytes`);
    yield chunk;
  }
  onSize?.(size);
}

async function* gunzipped(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  // Few answers are compressed, so the library is loaded only for those.
  const [{ createGunzip }, { Readable }] = await Promise.all([import('node:zlib'), import('node:stream')]);
  const packed = Readable.from(body);
  const gunzip = createGunzip();
  packed.on('error', (error) => gunzip.destroy(error));
  try {
    for await (const chunk of packed.pipe(gunzip)) yield chunk as Uint8Array;
  } catch (error) {
    // An error of the body itself keeps its message.
    if (error instanceof TubeletError) throw error;
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') !== true) throw error;
    throw new TubeletError('unavailable', 'the packed answer cannot be unpacked', { cause: error });
  } finally {
    packed.destroy();
    gunzip.destroy();
  }
}
