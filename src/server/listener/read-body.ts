import type { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import { text, type Page } from '../route.ts';
import { hasBody, type Exchange } from './exchange.ts';

const none = Buffer.alloc(0);
const tooLarge: Page = text(413, 'Request Entity Too Large\n');
const tooSlow: Page = text(408, 'Request Timeout\n');
/** A body on a connection that has left HTTP must have a `content-length`, because Node decodes no chunks there. */
const noLength: Page = text(411, 'Length Required\n');

interface BodyLimits {
  readonly clock: Pick<Clock, 'after'>;
  readonly maxBytes: number;
  readonly ms: number;
}

/** The body, or the page that refuses it. Rejects when the client or the signal ends it. */
export async function readBody(exchange: Exchange, limits: BodyLimits, signal: AbortSignal): Promise<Buffer | Page> {
  if (!hasBody(exchange)) return none;
  const { request, response, upgrade, expectsContinue } = exchange;
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (announced > limits.maxBytes || limits.maxBytes === 0) return tooLarge;
  if (upgrade !== undefined) {
    if (Number.isNaN(announced)) return noLength;
    // From Node.js 26 on the request has its body, as other requests do; before that the connection has it.
    if (!request.complete || request.readableLength > 0) return collect(request, limits, signal, announced);
    if (upgrade.head.length > 0) upgrade.socket.unshift(upgrade.head);
    return collect(upgrade.socket, limits, signal, announced);
  }
  if (expectsContinue) response.writeContinue();
  return collect(request, limits, signal, Number.POSITIVE_INFINITY);
}

/** What a stream gives until its end, or so many bytes of it. */
function collect(source: Readable, limits: BodyLimits, signal: AbortSignal, enough: number): Promise<Buffer | Page> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    const settle = (outcome: Buffer | Page): void => {
      forget();
      resolve(outcome);
    };
    const fail = (error: unknown): void => {
      forget();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size >= enough) settle(Buffer.concat(chunks, enough));
      else if (size > limits.maxBytes) settle(tooLarge);
    };
    const onEnd = (): void => settle(Buffer.concat(chunks, size));
    const onClose = (): void =>
      fail(new TubeletError('cancelled', 'the client went away in the middle of its request'));
    const onAbort = (): void => fail(signal.reason);
    const cancelTimer = limits.clock.after(limits.ms, () => settle(tooSlow));
    function forget(): void {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      source.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      // What else comes goes nowhere, but it goes: a request stuck halfway would block those behind it.
      source.resume();
    }
    if (signal.aborted) onAbort();
    else {
      signal.addEventListener('abort', onAbort, { once: true });
      source.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    }
  });
}
