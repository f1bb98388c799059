import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { kindOf, TubeletError } from '../../base/errors.ts';
import type { TransportAnswer, TransportRequest } from '../ports.ts';
import { abortError, flatHeaders, networkError } from './network-error.ts';
import { streamPieces } from './stream-pieces.ts';

const pingEveryMs = 30_000;
const pingLimitMs = 15_000;
/** One of several connections is closed after it was idle for so long. */
const idleLimitMs = 300_000;
/** Until the server reports how many streams it allows. */
const assumedStreams = 100;
const settingsLimitMs = 1_000;
const streamWindowBytes = 1024 * 1024;
const connectionWindowBytes = 16 * 1024 * 1024;

interface Http2SessionOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>;
  /** The origin, for errors and the authority of requests. */
  readonly server: URL;
  readonly socket: Duplex;
  /** The version of the TLS material that it was opened with. */
  readonly version: string;
  readonly onClose: () => void;
}

/**
 * One connection.
 *
 *   open ──a request timed out──> doubtful ──PING answered──> open       PING not answered for 15 s ──> closed
 *     └──GOAWAY, retire──> retiring (streams finish, none begins) ──> closed
 */
export class Http2Session {
  readonly version: string;
  readonly openedAt: number;
  readonly #options: Http2SessionOptions;
  readonly #session: ClientHttp2Session;
  #streams = 0;
  #maxStreams = assumedStreams;
  #heardAt: number;
  #retiring = false;
  #gaveUp: TubeletError | undefined;
  #doubtful = false;
  #usedAt: number;
  #cancelPing: CancelTimer | undefined;
  #cancelTick: CancelTimer;

  constructor(options: Http2SessionOptions) {
    const { clock, server, socket, version, onClose } = options;
    this.version = version;
    this.openedAt = clock.monotonic();
    this.#options = options;
    this.#heardAt = this.openedAt;
    this.#usedAt = this.openedAt;
    this.#session = http2.connect(server.origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    });
    this.#session.once('connect', () => this.#session.setLocalWindowSize(connectionWindowBytes));
    this.#session.on('remoteSettings', ({ maxConcurrentStreams }) => {
      this.#maxStreams = Math.max(1, maxConcurrentStreams ?? assumedStreams);
    });
    this.#session.on('goaway', () => this.retire());
    // Each stream reports its own error; the session's is the same one.
    this.#session.on('error', () => {});
    this.#session.once('close', () => {
      this.#cancelTick();
      this.#cancelPing?.();
      onClose();
    });
    this.#cancelTick = this.#arm(pingEveryMs);
  }

  get isUsable(): boolean {
    const { closed, destroyed } = this.#session;
    return !this.#retiring && !closed && !destroyed && !this.#doubtful;
  }

  /** Reserves a stream for a request that is sent next; false when none is free. */
  reserve(): boolean {
    if (!this.isUsable || this.#streams >= this.#maxStreams) return false;
    this.#streams++;
    this.#usedAt = this.#options.clock.monotonic();
    return true;
  }

  /** Resolves when the server has reported how many streams it allows: further ones would wait for ever. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      const cancelTimer = this.#options.clock.after(settingsLimitMs, resolve);
      const done = (): void => {
        cancelTimer();
        resolve();
      };
      this.#session.once('remoteSettings', done);
      this.#session.once('close', done);
    });
  }

  /** Lets the open streams finish. */
  retire(): void {
    if (this.#retiring) return;
    this.#retiring = true;
    this.#closeWhenEmpty();
  }

  /** Not earlier: a session that is closing answers no PING, and a watch on it would appear dead. */
  #closeWhenEmpty(): void {
    if (this.#retiring && this.#streams === 0) this.#session.close();
  }

  /** The peer may be dead: no new request until it has answered a PING. */
  doubt(): void {
    this.#doubtful = true;
    this.#ping();
  }

  /** The other side has 15 s to answer. */
  #ping(): void {
    // After GOAWAY the session closes by itself; the reflector notices a watch that stays silent there.
    if (this.#cancelPing !== undefined || this.#session.destroyed || this.#session.closed) return;
    const { clock, server } = this.#options;
    this.#cancelPing = clock.after(pingLimitMs, () =>
      this.destroy(
        new TubeletError('unavailable', `${server.origin}: no answer to a PING in ${pingLimitMs / 1_000} s`),
      ),
    );
    const sent = this.#session.ping((error) => {
      if (error !== null) return;
      this.#heard();
      this.#doubtful = false;
      this.#cancelPing?.();
      this.#cancelPing = undefined;
    });
    if (!sent) this.destroy(new TubeletError('unavailable', `${server.origin}: the connection takes no PING any more`));
  }

  destroy(why: TubeletError): void {
    this.#retiring = true;
    this.#gaveUp = why;
    this.#session.destroy(why);
  }

  /** Uses a stream that `reserve` reserved, and releases it at the end. */
  async send(request: TransportRequest): Promise<TransportAnswer> {
    const { signal } = request;
    let stream: ClientHttp2Stream;
    try {
      if (signal.aborted) throw abortError(signal);
      stream = this.#begin(request);
    } catch (error) {
      this.#streams--;
      this.#closeWhenEmpty();
      throw error;
    }
    let answered = false;
    const onAbort = (): void => {
      // A missing head may mean that the peer is dead.
      if (!answered && kindOf(signal.reason) === 'timeout') this.doubt();
      cancel(stream);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    stream.once('close', () => {
      this.#streams--;
      signal.removeEventListener('abort', onAbort);
      this.#closeWhenEmpty();
    });
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(signal.aborted ? abortError(signal) : this.#lost(stream, error));
      stream.once('response', (headers) => {
        answered = true;
        this.#heard();
        const { ':status': status = 0 } = headers;
        resolve({ status, headers: flatHeaders(headers), body: this.#body(stream, signal) });
      });
      // Either event may come first; after the head, the reader of the body gets the error.
      stream.on('error', fail);
      stream.once('close', () => fail(new Error('the connection was closed before the answer')));
      if (request.body !== undefined) stream.end(request.body);
    });
  }

  #begin({ method, path, headers, body }: TransportRequest): ClientHttp2Stream {
    const prefix = this.#options.server.pathname.replace(/\/$/, '');
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    try {
      return this.#session.request(
        { ...headers, ...length, ':method': method, ':path': `${prefix}${path}` },
        { endStream: body === undefined },
      );
    } catch (error) {
      throw new NotSent(this.#options.server.origin, error);
    }
  }

  async *#body(stream: ClientHttp2Stream, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const piece of streamPieces(stream)) {
        this.#heard();
        yield piece;
      }
      // A torn-down stream stops giving pieces as if it were complete; only a complete one has ended.
      if (!stream.readableEnded)
        throw this.#gaveUp ?? new Error('the connection was closed in the middle of the answer');
    } catch (error) {
      if (signal.aborted) throw abortError(signal);
      throw networkError(this.#options.server.origin, error);
    } finally {
      cancel(stream);
    }
  }

  #lost(stream: ClientHttp2Stream, error: unknown): TubeletError {
    const { origin } = this.#options.server;
    const refused = stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM;
    return refused ? new NotSent(origin, error) : networkError(origin, error);
  }

  #heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
  }

  #arm(ms: number): CancelTimer {
    const { clock } = this.#options;
    return clock.after(ms, () => {
      const now = clock.monotonic();
      const restMs = this.#heardAt + pingEveryMs - now;
      if (this.#streams === 0 && now - this.#usedAt >= idleLimitMs) this.retire();
      else if (restMs <= 0) this.#ping();
      this.#cancelTick = this.#arm(restMs > 0 ? restMs : pingEveryMs);
    });
  }
}

/** The server has certainly not received the request: it may be sent again, whatever it does. */
export class NotSent extends TubeletError {
  constructor(server: string, error: unknown) {
    super('unavailable', `${server}: the connection takes no more requests`, { cause: error });
  }
}

/** Cancels without waiting for a peer that may be dead. */
function cancel(stream: ClientHttp2Stream): void {
  if (stream.destroyed) return;
  if (!stream.closed && !stream.readableEnded) stream.close(http2.constants.NGHTTP2_CANCEL);
  stream.destroy();
}
