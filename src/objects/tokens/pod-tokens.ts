import type { Clock } from '../../base/clock.ts';
import { isKind, messageOf, TubeletError } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { TokenRequest } from '../../gen/kubernetes/types.ts';
import type { ApiWriter } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import type { PerPodState } from '../../model/pod-removal.ts';
import { tokenSpecs, type TokenSpec } from '../../model/token-spec.ts';
import { retryOnForbidden } from '../retry-on-forbidden.ts';
import { refreshAt, tokenKey, tokenRequest, type Token } from './compute-token.ts';

interface PodTokensDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly api: Pick<ApiWriter, 'create'>;
}

interface CachedToken {
  readonly uid: PodUid;
  readonly token: Token;
  /** Monotonic, so that setting the wall clock back does not extend a token's life. */
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

/** A request under way. */
interface PendingToken {
  readonly uid: PodUid;
  readonly token: Promise<Token>;
}

/** Tokens of service accounts, each bound to its pod, renewed before they expire. */
export class PodTokens implements PerPodState {
  readonly #deps: PodTokensDeps;
  readonly #cache = new Map<string, CachedToken>();
  readonly #pending = new Map<string, PendingToken>();

  constructor(deps: PodTokensDeps) {
    this.#deps = deps;
  }

  /** A token that is valid for a while. Returns a cached one that is due for renewal while the API server cannot be reached. */
  async get(spec: TokenSpec, signal: AbortSignal): Promise<Token> {
    const key = tokenKey(spec);
    const cached = this.#cache.get(key);
    const now = this.#deps.clock.monotonic();
    if (cached !== undefined && now < cached.refreshAtMs) return cached.token;
    try {
      return await this.#fetch(key, spec, signal);
    } catch (error) {
      if (cached === undefined || now >= cached.expiresAtMs || isKind(error, 'cancelled')) throw error;
      const { log } = this.#deps;
      log.warn('Cannot renew a token; the present one is still good', {
        ...podFields({ namespace: spec.namespace, ...spec.pod }),
        serviceAccount: `${spec.namespace}/${spec.serviceAccount}`,
        err: messageOf(error),
      });
      return cached.token;
    }
  }

  /** Requests the tokens of a new pod early, so that its volumes need not wait for them. */
  prefetch(pod: DesiredPod, signal: AbortSignal): void {
    const missing = tokenSpecs(pod).filter((spec) => !this.#cache.has(tokenKey(spec)));
    for (const spec of missing) {
      this.get(spec, signal).catch((error: unknown) => {
        // The volume's setUp requests it again, and reports the failure.
        this.#deps.log.debug(4, 'A token cannot be had yet', {
          ...podFields({ namespace: spec.namespace, ...spec.pod }),
          err: messageOf(error),
        });
      });
    }
  }

  /** In how many milliseconds the first of the pod's tokens is due for renewal; undefined when it has none. */
  refreshInMs(uid: PodUid): number | undefined {
    let first = Number.POSITIVE_INFINITY;
    for (const cached of this.#cache.values()) if (cached.uid === uid) first = Math.min(first, cached.refreshAtMs);
    return first === Number.POSITIVE_INFINITY ? undefined : Math.max(0, first - this.#deps.clock.monotonic());
  }

  /** The pod is removed, and its tokens are void. */
  forget(uid: PodUid): void {
    for (const map of [this.#cache, this.#pending]) {
      for (const [key, known] of map) if (known.uid === uid) map.delete(key);
    }
  }

  size(): number {
    return new Set([...this.#cache.values(), ...this.#pending.values()].map(({ uid }) => uid)).size;
  }

  #fetch(key: string, spec: TokenSpec, signal: AbortSignal): Promise<Token> {
    const known = this.#pending.get(key);
    if (known !== undefined) return known.token;
    const pending: PendingToken = { uid: spec.pod.uid, token: this.#request(spec, signal) };
    this.#pending.set(key, pending);
    return this.#awaitToken(key, pending);
  }

  /** A token that comes after its pod was removed is void, and not kept. */
  async #awaitToken(key: string, { uid, token: coming }: PendingToken): Promise<Token> {
    const isAwaited = (): boolean => this.#pending.get(key)?.token === coming;
    try {
      const token = await coming;
      if (isAwaited()) this.#remember(key, uid, token);
      return token;
    } finally {
      if (isAwaited()) this.#pending.delete(key);
    }
  }

  async #request(spec: TokenSpec, signal: AbortSignal): Promise<Token> {
    const answer = await this.#create(spec, signal);
    const { token: value, expirationTimestamp } = answer.status ?? {};
    const expiresAtMs = Date.parse(expirationTimestamp ?? '');
    if (value === undefined || value === '' || Number.isNaN(expiresAtMs)) {
      throw new TubeletError('invalid', `the API server gave no token for ${spec.namespace}/${spec.serviceAccount}`);
    }
    const lifetimeMs = (answer.spec?.expirationSeconds ?? spec.expirationSeconds) * 1_000;
    return { value, expiresAtMs, lifetimeMs };
  }

  #remember(key: string, uid: PodUid, token: Token): void {
    const { clock, random } = this.#deps;
    const shift = clock.monotonic() - clock.now();
    const refreshAtMs = refreshAt(token, random.next()) + shift;
    this.#cache.set(key, { uid, token, refreshAtMs, expiresAtMs: token.expiresAtMs + shift });
  }

  async #create(spec: TokenSpec, signal: AbortSignal): Promise<TokenRequest> {
    const { clock, api } = this.#deps;
    const options = { of: spec.serviceAccount, subresource: 'token', signal };
    const ask = (): Promise<TokenRequest> =>
      api.create<TokenRequest>(apiResources.serviceAccounts, spec.namespace, tokenRequest(spec), options);
    return retryOnForbidden(clock, ask, signal);
  }
}
