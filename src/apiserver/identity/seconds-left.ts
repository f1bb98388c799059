import type { CertificatePair } from './certificate-pair.ts';

/** What the metrics say about a certificate. */
export function secondsLeft(pair: CertificatePair | undefined, nowMs: number): number {
  return pair === undefined ? Number.POSITIVE_INFINITY : Math.trunc((pair.notAfter - nowMs) / 1_000);
}
