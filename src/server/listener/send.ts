import type { OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import { raceAbort } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { BodySink, Page, StreamedAnswer } from '../route.ts';
import { dropRest, isClosed, sendHead, type Exchange, type Outgoing } from './exchange.ts';

interface SendLimits {
  readonly clock: Pick<Clock, 'after'>;
  /** A client that takes nothing for this long is given up. */
  readonly stallMs: number;
}

/** Progress is only seen when a piece was sent, so pieces are small. */
const pieceBytes = 64 * 1024;

/** Writes a whole answer. Rejects when the client does not take it; it must be broken off then. */
export async function sendPage(exchange: Exchange, page: Page, limits: SendLimits, signal: AbortSignal): Promise<void> {
  const { request, response } = exchange;
  const body = typeof page.body === 'string' ? Buffer.from(page.body) : page.body;
  const isBare = page.status === 204 || page.status === 304;
  if (isClosed(response)) throw clientClosed();
  sendHead(response, page.status, {
    ...commonHeaders(page),
    ...(!isBare && { 'content-length': body.byteLength }),
  });
  if (request.method !== 'HEAD' && !isBare) await writePieces(response, body, limits, signal);
  await finish(exchange, limits, signal);
}

/** Writes an answer as it comes. HEAD asks for its beginning alone. */
export async function sendStream(
  exchange: Exchange,
  answer: StreamedAnswer,
  limits: SendLimits,
  signal: AbortSignal,
): Promise<void> {
  const { request, response } = exchange;
  if (isClosed(response)) throw clientClosed();
  sendHead(response, answer.status, commonHeaders(answer), true);
  if (request.method !== 'HEAD') {
    const sink: BodySink = {
      write: (chunk) => writePieces(response, typeof chunk === 'string' ? Buffer.from(chunk) : chunk, limits, signal),
    };
    await raceAbort(answer.send(sink, signal), signal);
  }
  await finish(exchange, limits, signal);
}

function commonHeaders({ contentType, headers }: Page | StreamedAnswer): OutgoingHttpHeaders {
  return { 'content-type': contentType, 'x-content-type-options': 'nosniff', ...headers };
}

async function writePieces(
  response: Outgoing,
  chunk: Uint8Array,
  limits: SendLimits,
  signal: AbortSignal,
): Promise<void> {
  const out: Writable = response;
  for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
    signal.throwIfAborted();
    if (isClosed(response) || out.writableEnded) throw clientClosed();
    if (!out.write(chunk.subarray(at, at + pieceBytes))) await progress(out, 'drain', limits, signal);
  }
}

async function finish(exchange: Exchange, limits: SendLimits, signal: AbortSignal): Promise<void> {
  if (isClosed(exchange.response)) throw clientClosed();
  await progress(exchange.response, 'end', limits, signal);
  dropRest(exchange);
}

/** Resolves when there is room again, or when the end was sent. */
function progress(out: Writable, what: 'drain' | 'end', limits: SendLimits, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      forget();
      resolve();
    };
    const fail = (error: unknown): void => {
      forget();
      reject(error);
    };
    const onClose = (): void => fail(clientClosed());
    const onAbort = (): void => fail(signal.reason);
    const cancelTimer = limits.clock.after(limits.stallMs, () =>
      fail(new TubeletError('timeout', `the client took nothing for ${limits.stallMs} ms`)),
    );
    function forget(): void {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      out.off('drain', done).off('close', onClose);
    }
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    out.on('close', onClose);
    if (what === 'drain') out.on('drain', done);
    else out.end(done);
  });
}

function clientClosed(): TubeletError {
  return new TubeletError('cancelled', 'the client went away');
}
