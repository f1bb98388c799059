import { linkedSignal, raceAbort, withTimeout } from '../base/abort.ts';
import { noCalls, reportedCall, type Calls } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import { kindOf, TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Lane } from '../model/api-client.ts';
import type { PodFields } from '../model/pod-log.ts';
import { ApiError, errorOfAnswer } from './api-error.ts';
import type { ApiTransport, Credentials, TransportAnswer, TransportRequest } from './ports.ts';
import type { LaneLimits } from './rate-limit.ts';
import { readBody, readList, type ReadOptions } from './read-body.ts';

interface ApiRequestsDeps {
  readonly transport: ApiTransport;
  readonly credentials: Credentials;
  readonly limits: LaneLimits;
  readonly clock: Clock;
  readonly log: Log;
  readonly userAgent: string;
  readonly seen?: RequestObserver | undefined;
  /**
   * Records requests while they are running, their wait for the rate limit included; a watch until it is established.
   */
  readonly calls?: Calls | undefined;
}

/** Observes requests, for metrics. */
export interface RequestObserver {
  /** Every answer, and every try without one. */
  answered(answer: ObservedAnswer): void;
  /** How long a request waited for the rate limit. */
  waited(method: string, durationMs: number): void;
  /** The body of an answer, as it was received. */
  received(method: string, bytes: number): void;
  /** A try that is repeated, and how it ended. */
  retried(method: string, code: string): void;
}

interface ObservedAnswer {
  readonly method: TransportRequest['method'];
  /** HTTP status, or `<error>` when there was no answer: the label of the metric. */
  readonly code: string;
  readonly durationMs: number;
  readonly requestBytes: number;
}

export interface ApiRequest {
  readonly method: TransportRequest['method'];
  readonly path: string;
  /** For errors: `GET pods default/web`. */
  readonly what: string;
  /** Names the pod in the log where the request is about one. */
  readonly about: PodFields;
  readonly lane: Lane;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

const defaultTimeoutMs: Readonly<Record<Lane, number>> = { vital: 10_000, normal: 60_000, events: 60_000 };
const maxTries = 10;
const maxRetryAfterMs = 60_000;
const maxRefusalBytes = 1024 * 1024;
/** Instead of a status where there was no answer. */
const noAnswer = '<error>';

/**
 * Carries requests out: rate limit, credentials, deadlines, and the few cases in which a retry is right.
 *
 *   budget ──> send ──2xx──> answer
 *     ^          ├──401──> renew credentials, once
 *     │          ├──429, 503 with Retry-After──> wait as requested
 *     │          ├──no answer to a GET──> once more, at once: the connection may have been dead
 *     └──────────┘          anything else is an error
 */
export class ApiRequests {
  readonly #deps: ApiRequestsDeps;

  constructor(deps: ApiRequestsDeps) {
    this.#deps = deps;
  }

  /** The body of a success, as text. */
  text(request: ApiRequest): Promise<string> {
    return this.#read(request, (answer) => readBody(answer, this.#reader(request)));
  }

  /** The body of a success that is a list: each item is passed to `keep` as it is read; answers with the rest. */
  list(request: ApiRequest, keep: (item: unknown) => void): Promise<unknown> {
    return this.#read(request, (answer) => readList(answer, keep, this.#reader(request)));
  }

  #read<T>(request: ApiRequest, read: (answer: TransportAnswer) => Promise<T>): Promise<T> {
    return this.#reported(request, () => this.#readNow(request, read));
  }

  #reported<T>({ method, what }: ApiRequest, make: () => Promise<T>): Promise<T> {
    const subject = what.startsWith(`${method} `) ? what.slice(method.length + 1) : what;
    return reportedCall(this.#deps.calls ?? noCalls, { system: 'apiserver', verb: method, subject }, make);
  }

  async #readNow<T>(request: ApiRequest, read: (answer: TransportAnswer) => Promise<T>): Promise<T> {
    const timeoutMs = request.timeoutMs ?? defaultTimeoutMs[request.lane];
    const deadline = this.#deps.clock.monotonic() + timeoutMs;
    try {
      return await withTimeout(
        this.#deps.clock,
        timeoutMs,
        async (signal) => read(await this.#answer(request, deadline, signal)),
        request.signal,
      );
    } catch (error) {
      throw this.#named(error, request, timeoutMs);
    }
  }

  /** An answer whose body continues until the signal ends it; only its head has a deadline. */
  stream(request: ApiRequest & { readonly signal: AbortSignal }): Promise<TransportAnswer> {
    return this.#reported(request, () => this.#streamNow(request));
  }

  async #streamNow(request: ApiRequest & { readonly signal: AbortSignal }): Promise<TransportAnswer> {
    const timeoutMs = request.timeoutMs ?? defaultTimeoutMs[request.lane];
    const head = linkedSignal(request.signal, { clock: this.#deps.clock, ms: timeoutMs });
    const whole = linkedSignal(request.signal);
    const onHeadAbort = (): void => whole.abort(head.signal.reason);
    head.signal.addEventListener('abort', onHeadAbort, { once: true });
    try {
      const deadline = this.#deps.clock.monotonic() + timeoutMs;
      const answer = await raceAbort(this.#answer(request, deadline, whole.signal), whole.signal);
      return { ...answer, body: releasing(answer.body, () => whole.release()) };
    } catch (error) {
      whole.release();
      throw this.#named(error, request, timeoutMs);
    } finally {
      head.signal.removeEventListener('abort', onHeadAbort);
      head.release();
    }
  }

  /** The first successful answer; throws the last refusal. */
  async #answer(request: ApiRequest, deadline: number, signal: AbortSignal): Promise<TransportAnswer> {
    const { credentials, clock, log, seen } = this.#deps;
    let renewed = false;
    let sentAgain = false;
    for (let attempt = 1; ; attempt++) {
      await this.#takeTurn(request, signal);
      let answer: TransportAnswer;
      try {
        answer = await this.#send(request, signal);
      } catch (error) {
        if (request.method !== 'GET' || sentAgain || kindOf(error) !== 'unavailable') throw error;
        sentAgain = true;
        seen?.retried(request.method, noAnswer);
        continue;
      }
      if (answer.status >= 200 && answer.status < 300) return answer;

      const refusal = errorOfAnswer(
        request.what,
        answer.status,
        answer.headers,
        await readBody(answer, { ...this.#reader(request), limitBytes: maxRefusalBytes }),
      );
      if (answer.status === 401 && !renewed && credentials.renew !== undefined) {
        renewed = true;
        credentials.renew();
        seen?.retried(request.method, String(answer.status));
        continue;
      }
      const waitMs = retryDelay(refusal);
      // A wait beyond the deadline would only replace the server's message with our "timed out".
      if (waitMs === undefined || attempt >= maxTries || clock.monotonic() + waitMs >= deadline) throw refusal;
      log.debug(4, 'API server asks to wait', {
        request: request.what,
        ...request.about,
        status: answer.status,
        waitMs,
        attempt,
      });
      seen?.retried(request.method, String(answer.status));
      await clock.sleep(waitMs, signal);
    }
  }

  async #takeTurn({ lane, method }: ApiRequest, signal: AbortSignal): Promise<void> {
    const { limits, clock, seen } = this.#deps;
    const asked = clock.monotonic();
    await limits.take(lane, signal);
    if (lane !== 'vital') seen?.waited(method, clock.monotonic() - asked);
  }

  #reader({ method }: ApiRequest): ReadOptions {
    return { onSize: (bytes) => this.#deps.seen?.received(method, bytes) };
  }

  async #send(request: ApiRequest, signal: AbortSignal): Promise<TransportAnswer> {
    const { transport, credentials, userAgent, clock, log, seen } = this.#deps;
    const { method, path, body } = request;
    const authorization = await credentials.authorization();
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(authorization !== undefined && { authorization }),
      ...request.headers,
    };
    const began = clock.monotonic();
    let code = noAnswer;
    try {
      const answer = await transport.send({ method, path, headers, signal, ...(body !== undefined && { body }) });
      code = String(answer.status);
      return answer;
    } finally {
      const durationMs = clock.monotonic() - began;
      seen?.answered({ method, code, durationMs, requestBytes: body === undefined ? 0 : Buffer.byteLength(body) });
      log.debug(6, 'API request answered', {
        request: request.what,
        ...request.about,
        code,
        seconds: durationMs / 1_000,
      });
    }
  }

  /** Adds the description of the request to our own errors. */
  #named(error: unknown, { what, signal }: ApiRequest, timeoutMs: number): unknown {
    if (error instanceof ApiError) return error;
    if (signal?.aborted) {
      if (signal.reason instanceof TubeletError) return signal.reason;
      return new TubeletError('cancelled', `${what}: given up`, { cause: signal.reason });
    }
    const kind = kindOf(error);
    if (kind === 'timeout')
      return new TubeletError('timeout', `${what}: no answer within ${timeoutMs} ms`, { cause: error });
    return new TubeletError(kind, `${what}: the API server cannot be reached or did not answer`, { cause: error });
  }
}

function retryDelay({ status, retryAfterMs }: ApiError): number | undefined {
  if ((status !== 429 && status !== 503) || retryAfterMs === undefined) return undefined;
  return Math.min(Math.max(retryAfterMs, 100), maxRetryAfterMs);
}

/** Runs `release` when the body has been read, was abandoned, or broke off. */
async function* releasing(body: AsyncIterable<Uint8Array>, release: () => void): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body;
  } finally {
    release();
  }
}
