import { createHmac } from 'node:crypto';
import { TubeletError } from '../../base/errors.ts';
import type { TokenReview } from '../../gen/kubernetes/types.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { Caller } from '../../model/caller.ts';
import { ExpiringLru } from './expiring-lru.ts';
import type { Authenticator, Credentials } from './ports.ts';
import { addressKey } from '../address-key.ts';
import { maxReviews, maxReviewsOfAddress, ReviewCalls, reviewLimitMs, type ReviewDeps } from './review-calls.ts';
import { SharedFlights } from './shared-flights.ts';
import { tokenCacheMetrics, type TokenCacheMetrics } from './token-cache-metrics.ts';

interface TokenReviewsDeps extends ReviewDeps {
  /** How long an answer counts, whatever it was. */
  readonly cacheTtlMs: number;
}

/** A token that was reviewed; the caller is undefined when it is not good. */
interface Judged {
  readonly caller: Caller | undefined;
}

const maxTokens = 4_096;
/** A token that was good is asked about again in a budget of its own for this long. */
const knownMs = 3_600_000;
const maxTokenLength = 64 * 1024;

/**
 * Who a client is by its bearer token, as the API server says.
 *
 *   token ──hash──> remembered? ──yes──> answer
 *                       └──no──> one review for all callers ──> answer, remembered unless it was an error
 */
export class TokenReviews implements Authenticator {
  readonly #deps: TokenReviewsDeps;
  readonly #calls: ReviewCalls;
  /** Apart, so that a flood of bad tokens cannot push out the good ones. */
  readonly #good: ExpiringLru<Judged>;
  readonly #bad: ExpiringLru<Judged>;
  /** Tokens that were good lately. Their holders do not stand in line with a flood of others, also at the same address. */
  readonly #known: ExpiringLru<true>;
  readonly #flights: SharedFlights<Judged>;
  readonly #knownFlights: SharedFlights<Judged>;
  readonly #metrics: TokenCacheMetrics;
  /** Keys are keyed hashes, so that a reader of this memory cannot test whether a key is that of a given token. */
  readonly #secret: string;

  constructor(deps: TokenReviewsDeps) {
    this.#deps = deps;
    this.#calls = new ReviewCalls(deps, apiResources.tokenReviews, 'apiserver_delegated_authn');
    this.#good = new ExpiringLru(deps.clock, maxTokens);
    this.#bad = new ExpiringLru(deps.clock, maxTokens);
    this.#known = new ExpiringLru(deps.clock, maxTokens);
    const options = { clock: deps.clock, limitMs: reviewLimitMs, max: maxReviews };
    this.#flights = new SharedFlights({ ...options, maxPerOwner: maxReviewsOfAddress });
    this.#knownFlights = new SharedFlights(options);
    this.#metrics = tokenCacheMetrics(deps.metrics);
    this.#secret = deps.random.hex(32);
  }

  /** Throws when it cannot be found out. */
  async authenticate({ bearer, address = '' }: Credentials, signal: AbortSignal): Promise<Caller | undefined> {
    if (bearer === undefined || bearer === '' || bearer.length > maxTokenLength) return undefined;
    const { clock } = this.#deps;
    const began = clock.monotonic();
    const key = createHmac('sha256', this.#secret).update(bearer).digest('base64');
    const known = this.#good.get(key) ?? this.#bad.get(key);
    try {
      return (known ?? (await this.#judge(key, bearer, addressKey(address), signal))).caller;
    } finally {
      this.#metrics.asked(known === undefined ? 'miss' : 'hit', (clock.monotonic() - began) / 1_000);
    }
  }

  async #judge(key: string, token: string, owner: string, signal: AbortSignal): Promise<Judged> {
    const leave = this.#metrics.waiting();
    try {
      const flights = this.#known.get(key) === true ? this.#knownFlights : this.#flights;
      return await flights.run(key, (ending) => this.#fetch(key, token, ending), signal, owner);
    } finally {
      leave();
    }
  }

  async #fetch(key: string, token: string, signal: AbortSignal): Promise<Judged> {
    const land = this.#metrics.fetching();
    try {
      const review = await this.#calls.ask<TokenReview>({ spec: { token } }, signal);
      const judged = { caller: callerOf(review) };
      this.#remember(key, judged);
      land('ok');
      return judged;
    } catch (error) {
      land('error');
      throw error;
    }
  }

  #remember(key: string, judged: Judged): void {
    const { cacheTtlMs } = this.#deps;
    if (judged.caller === undefined) {
      this.#bad.set(key, judged, cacheTtlMs);
      this.#known.set(key, true, 0);
    } else {
      this.#good.set(key, judged, cacheTtlMs);
      this.#known.set(key, true, knownMs);
    }
  }
}

/** The caller that a review names; undefined when the token is not good. Throws when the server could not decide. */
export function callerOf({ status }: TokenReview): Caller | undefined {
  const { authenticated = false, error = '', user = {} } = status ?? {};
  const { username = '', uid = '', groups = [], extra } = user;
  if (!authenticated && error !== '')
    throw new TubeletError('denied', `the API server does not accept the token: ${error.slice(0, 1_000)}`);
  if (!authenticated || username === '') return undefined;
  return { name: username, groups, ...(uid !== '' && { uid }), ...(extra !== undefined && { extra }) };
}
