import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { QuietWatch } from './quiet-watch.ts';
import { connectTarget, streamingTarget } from './streaming-target.ts';
import { answerStartBytes, judgeAnswer, plainAnswer, upgradeHead } from './upgrade-message.ts';

interface HandOverDeps {
  readonly log: Log;
  readonly clock: Clock;
  /** A session in which nothing comes from either side for this long is ended; 0 is for ever. */
  readonly idleMs: number;
}

/** The streaming server must have answered by then. */
const answerMs = 30_000;
/** The last bytes of a session may take this long. */
const partingMs = 30_000;
/**
 * For clients that end their half: none of the protocols means "I go on listening" by that. A client that was killed
 * ends its half in the same way, while its command may run for days.
 */
const listeningMs = 10_000;
const keepAliveMs = 30_000;

/**
 * Hands the client's connection over to the runtime's streaming server at `to`. `headers` are those of the request
 * without credentials. Returns when both connections are closed; never throws.
 */
export function handOver(
  deps: HandOverDeps,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  headers: IncomingHttpHeaders,
  to: URL,
  signal: AbortSignal,
): Promise<void> {
  const { method = 'GET', rawHeaders } = request;
  const path = to.pathname + to.search;
  const host = to.protocol === 'http+unix:' ? 'localhost' : to.host;
  return new Session(deps, socket, signal).run(to, upgradeHead({ method, path, host, headers, rawHeaders }), head);
}

/**
 * Two connections that become one.
 *
 *   connecting ──> asking ──101──> open ─────> closed     bytes and ends go through, each direction for itself
 *        │            ├───────> refused ─────> closed     the answer goes through, nothing more of the client
 *        └────────────┴───────> failed ──────> closed     an answer of ours
 *
 * Nothing of the client reaches the runtime before it has said 101: what follows a request that was refused would
 * otherwise be the next request, which the agent has not authorized.
 */
class Session {
  readonly #deps: HandOverDeps;
  readonly #client: Duplex;
  readonly #signal: AbortSignal;
  readonly #timers: CancelTimer[] = [];
  #runtime: Socket | undefined;
  #watch: QuietWatch | undefined;

  constructor(deps: HandOverDeps, client: Duplex, signal: AbortSignal) {
    this.#deps = deps;
    this.#client = client;
    this.#signal = signal;
  }

  async run(to: URL, requestHead: Buffer, early: Buffer): Promise<void> {
    const client = this.#client;
    // An error of a stream is followed by its close, and the close is what counts.
    client.on('error', ignore);
    client.allowHalfOpen = true;
    if (client instanceof Socket) client.setTimeout(0).setNoDelay(true).setKeepAlive(true, keepAliveMs);
    // Each session lets go of the signal, however many there are at once.
    setMaxListeners(0, this.#signal);
    this.#signal.addEventListener('abort', this.#endAll, { once: true });
    client.once('close', this.#onClientClosed);
    if (this.#signal.aborted || client.destroyed) this.#endAll();
    else await this.#connect(to, requestHead, early);
    await Promise.all([closed(client), this.#runtime && closed(this.#runtime)]);
    for (const cancel of this.#timers) cancel();
    this.#watch?.stop();
    client.off('close', this.#onClientClosed);
    this.#signal.removeEventListener('abort', this.#endAll);
  }

  async #connect(to: URL, requestHead: Buffer, early: Buffer): Promise<void> {
    try {
      const runtime = connectTarget(streamingTarget(to));
      this.#runtime = runtime;
      runtime.on('error', ignore);
      runtime.setKeepAlive(true, keepAliveMs);
      runtime.write(requestHead);
      const start = await this.#answerStart(runtime);
      const kind = judgeAnswer(start);
      if (kind === 'useless') throw new UselessAnswer('internal', 'the container runtime gave an answer of no use');
      runtime.unshift(start);
      if (kind === 'opens') this.#open(runtime, early);
      else this.#refuse(runtime);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The first bytes of the answer; the runtime is paused then. */
  #answerStart(runtime: Socket): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let start: Buffer | undefined;
      const settle = (): void => {
        cancel();
        runtime.off('data', onData).off('end', onEnd).off('error', fail).off('close', onEnd);
      };
      const fail = (error: Error): void => {
        settle();
        reject(error);
      };
      const onEnd = (): void => fail(new TubeletError('unavailable', 'it ended the connection without an answer'));
      const onData = (chunk: Buffer): void => {
        start = start === undefined ? chunk : Buffer.concat([start, chunk]);
        if (start.length < answerStartBytes) return;
        runtime.pause();
        settle();
        resolve(start);
      };
      const cancel = this.#deps.clock.after(answerMs, () =>
        fail(new TubeletError('timeout', `no answer within ${answerMs / 1_000} s`)),
      );
      runtime.on('data', onData).on('end', onEnd).on('error', fail).on('close', onEnd);
    });
  }

  #open(runtime: Socket, early: Buffer): void {
    const client = this.#client;
    const { idleMs, clock, log } = this.#deps;
    if (early.length > 0) runtime.write(early);
    runtime.once('close', this.#onRuntimeClosed);
    runtime.once('end', () => {
      // The runtime is done. Once the client has been sent everything it is expected to leave as well.
      client.once('finish', () => this.#endWithin(partingMs));
    });
    client.once('end', () => this.#endWithin(listeningMs));
    client.pipe(runtime);
    runtime.pipe(client);
    // A client that went while the runtime was asked has had its close already.
    if (client.destroyed) runtime.destroy();
    else if (idleMs > 0) {
      this.#watch = new QuietWatch(clock, idleMs, [client, runtime], () => {
        log.debug(2, 'A streaming session was ended for want of use', { idleSeconds: idleMs / 1_000 });
        this.#endAll();
      });
    }
  }

  /** The end of our request makes the streaming server close after its answer, and so the answer has an end here too. */
  #refuse(runtime: Socket): void {
    this.#deps.log.debug(2, 'The container runtime refused a streaming session');
    runtime.once('close', this.#onRuntimeClosed);
    this.#client.resume();
    runtime.pipe(this.#client);
    runtime.end();
    this.#endWithin(partingMs);
  }

  #fail(error: unknown): void {
    const client = this.#client;
    this.#runtime?.destroy();
    if (client.destroyed) return;
    this.#deps.log.error(error, 'A streaming session could not be handed over to the container runtime');
    client.resume();
    if (error instanceof UselessAnswer) client.end(plainAnswer(502, error.message));
    else client.end(plainAnswer(500, `cannot reach the streaming server of the container runtime: ${reasonOf(error)}`));
    this.#endWithin(partingMs);
  }

  readonly #endAll = (): void => {
    this.#client.destroy();
    this.#runtime?.destroy();
  };

  #endWithin(ms: number): void {
    this.#timers.push(this.#deps.clock.after(ms, this.#endAll));
  }

  /** What the client said to the end still reaches the runtime; what it broke off ends at once. */
  readonly #onClientClosed = (): void => {
    const runtime = this.#runtime;
    if (runtime === undefined || runtime.destroyed) return;
    if (!runtime.writableEnded || runtime.writableFinished) {
      runtime.destroy();
      return;
    }
    runtime.unpipe(this.#client);
    runtime.resume();
    runtime.once('finish', () => runtime.destroy());
    this.#endWithin(partingMs);
  };

  /** What the runtime said to the end still reaches the client, however slowly it reads; a break shows as a break. */
  readonly #onRuntimeClosed = (): void => {
    const client = this.#client;
    if (!client.writableEnded) {
      client.destroy();
      return;
    }
    // Whatever else it says goes nowhere, but it is read, so that its end is seen.
    if (this.#runtime !== undefined) client.unpipe(this.#runtime);
    client.resume();
  };
}

/** The streaming server answered, but with nothing that may be passed on. */
class UselessAnswer extends TubeletError {}

/** Why, without addresses of this node. */
function reasonOf(error: unknown): string {
  if (error instanceof TubeletError) return error.message;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'see the log of this node';
}

function closed(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });
}

function ignore(): void {}
