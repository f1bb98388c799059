import { createHash } from 'node:crypto';
import { TubeletError } from '../../base/errors.ts';
import type { SubjectAccessReview, SubjectAccessReviewSpec } from '../../gen/kubernetes/types.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { Caller, NodeAccess } from '../../model/caller.ts';
import { ExpiringLru } from './expiring-lru.ts';
import type { Authorizer, AuthorizationDecision } from './ports.ts';
import { maxReviews, ReviewCalls, reviewLimitMs, type ReviewDeps } from './review-calls.ts';
import { SharedFlights } from './shared-flights.ts';

interface AccessReviewsDeps extends ReviewDeps {
  readonly nodeName: string;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

const maxDecisions = 8_192;
const maxReasonLength = 1_000;

/** What callers may do to this node, as the API server says. It decides on every caller, also on system:masters. */
export class AccessReviews implements Authorizer {
  readonly #deps: AccessReviewsDeps;
  readonly #calls: ReviewCalls;
  /** Apart, so that refusals of unknown callers cannot push out what others are granted. */
  readonly #granted: ExpiringLru<AuthorizationDecision>;
  readonly #refused: ExpiringLru<AuthorizationDecision>;
  readonly #flights: SharedFlights<AuthorizationDecision>;

  constructor(deps: AccessReviewsDeps) {
    this.#deps = deps;
    this.#calls = new ReviewCalls(deps, apiResources.subjectAccessReviews, 'apiserver_delegated_authz');
    this.#granted = new ExpiringLru(deps.clock, maxDecisions);
    this.#refused = new ExpiringLru(deps.clock, maxDecisions);
    this.#flights = new SharedFlights({ clock: deps.clock, limitMs: reviewLimitMs, max: maxReviews });
  }

  async authorize(caller: Caller, access: NodeAccess, signal: AbortSignal): Promise<AuthorizationDecision> {
    const spec = reviewSpec(caller, access, this.#deps.nodeName);
    const key = createHash('sha256').update(JSON.stringify(spec)).digest('base64');
    const known = this.#granted.get(key) ?? this.#refused.get(key);
    return known ?? (await this.#flights.run(key, (ending) => this.#ask(key, spec, ending), signal));
  }

  async #ask(key: string, spec: SubjectAccessReviewSpec, signal: AbortSignal): Promise<AuthorizationDecision> {
    const verdict = verdictOf(await this.#calls.ask<SubjectAccessReview>({ spec }, signal));
    const { authorizedTtlMs, unauthorizedTtlMs } = this.#deps;
    if (verdict.allowed) this.#granted.set(key, verdict, authorizedTtlMs);
    else this.#refused.set(key, verdict, unauthorizedTtlMs);
    return verdict;
  }
}

/** The question as the API server wants it. The order of the fields is the same for every caller. */
export function reviewSpec(
  { name, uid, groups, extra }: Caller,
  { verb, subresource }: NodeAccess,
  nodeName: string,
): SubjectAccessReviewSpec {
  return {
    resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: nodeName },
    user: name,
    groups,
    ...(uid !== undefined && { uid }),
    ...(extra !== undefined && { extra }),
  };
}

/** Throws when the answer says nothing, or two things. */
export function verdictOf({ status }: SubjectAccessReview): AuthorizationDecision {
  if (status === undefined)
    throw new TubeletError('internal', 'the API server answered an access review without a verdict');
  const { allowed, denied = false, reason = '', evaluationError = '' } = status;
  if (allowed && denied) throw new TubeletError('internal', 'the API server both allows and denies the access');
  const why = [reason, evaluationError].filter((part) => part !== '').join('; ');
  return { allowed, ...(why !== '' && { reason: why.slice(0, maxReasonLength) }) };
}
