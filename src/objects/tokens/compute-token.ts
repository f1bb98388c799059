import type { TokenRequest } from '../../gen/kubernetes/types.ts';
import type { TokenSpec } from '../../model/token-spec.ts';

export interface Token {
  readonly value: string;
  readonly expiresAtMs: number;
  /** As requested; the API server may grant less or more. */
  readonly lifetimeMs: number;
}

const refreshFraction = 0.8;
const maxAgeMs = 24 * 3_600_000;
const maxJitterMs = 10_000;

/** Equal for specs that one token fulfils, and only for those. */
export function tokenKey({ namespace, serviceAccount, pod, audiences, expirationSeconds }: TokenSpec): string {
  return JSON.stringify([namespace, serviceAccount, pod.name, pod.uid, audiences, expirationSeconds]);
}

export function tokenRequest({ pod, audiences, expirationSeconds }: TokenSpec): TokenRequest {
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      audiences: [...audiences],
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.name, uid: pod.uid },
    },
  };
}

/**
 * When to renew a token, in wall time: after four fifths of its life, and daily where it lives long. `chance` in [0, 1)
 * spreads the renewals of a node.
 */
export function refreshAt({ expiresAtMs, lifetimeMs }: Token, chance: number): number {
  const issuedAtMs = expiresAtMs - lifetimeMs;
  return issuedAtMs + Math.min(lifetimeMs * refreshFraction, maxAgeMs) - chance * maxJitterMs;
}
