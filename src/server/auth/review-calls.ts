import type { Clock } from '../../base/clock.ts';
import { isKind } from '../../base/errors.ts';
import type { Counter, Histogram, Metrics } from '../../base/metrics.ts';
import { jitter, type Random } from '../../base/random.ts';
import type { ApiObject } from '../../model/api-client.ts';
import { apiVersionOf, type ApiResource } from '../../model/api-resources.ts';
import type { ReviewApi } from './ports.ts';

export interface ReviewDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly api: ReviewApi;
}

const tries = 5;
const firstDelayMs = 500;
const factor = 1.5;
const jitterFraction = 0.2;
const tryMs = 10_000;
/** All tries of one review. */
export const reviewLimitMs = 30_000;
/** Different reviews under way at a time: unauthenticated clients can cause as many as they like. */
export const maxReviews = 256;
/** Of those the ones of one address: three others are enough to be served. */
export const maxReviewsOfAddress = 64;

/** Puts questions to the API server, and again when it does not answer. */
export class ReviewCalls {
  readonly #deps: ReviewDeps;
  readonly #resource: ApiResource;
  readonly #total: Counter<'code'>;
  readonly #seconds: Histogram<'code'>;

  /** `metric` is the name that metrics begin with. */
  constructor(deps: ReviewDeps, resource: ApiResource, metric: string) {
    this.#deps = deps;
    this.#resource = resource;
    const common = { stability: 'ALPHA', labels: ['code'] } as const;
    this.#total = deps.metrics.counter({
      ...common,
      name: `${metric}_request_total`,
      help: `Requests for a ${resource.kind}, by the code of the answer.`,
    });
    this.#seconds = deps.metrics.histogram({
      ...common,
      name: `${metric}_request_duration_seconds`,
      help: `How long the API server took for a ${resource.kind}, by the code of its answer.`,
      buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
    });
  }

  /** The review with its status. Fails with what the last try failed with. */
  async ask<T extends ApiObject>(review: T, signal: AbortSignal): Promise<T> {
    const { clock, random } = this.#deps;
    let delayMs = firstDelayMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#askOnce(review, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (attempt >= tries || !isKind(error, 'unavailable', 'timeout', 'exhausted')) throw error;
      }
      await clock.sleep(jitter(random, delayMs, jitterFraction), signal);
      delayMs *= factor;
    }
  }

  async #askOnce<T extends ApiObject>(review: T, signal: AbortSignal): Promise<T> {
    const { clock, api } = this.#deps;
    const began = clock.monotonic();
    let code = '201';
    try {
      const object = { apiVersion: apiVersionOf(this.#resource), kind: this.#resource.kind, ...review };
      return await api.create(this.#resource, undefined, object, { signal, timeoutMs: tryMs });
    } catch (error) {
      code = codeOf(error);
      throw error;
    } finally {
      this.#total.inc({ code });
      this.#seconds.observe((clock.monotonic() - began) / 1_000, { code });
    }
  }
}

/** The HTTP status where there was an answer; for the metrics alone, decisions go by kinds. */
function codeOf(error: unknown): string {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  return typeof status === 'number' ? String(status) : '<error>';
}
