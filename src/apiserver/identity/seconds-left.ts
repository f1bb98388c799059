import type { CertificatePair } from './certificate-pair.ts';

/** The value of the metrics about a certificate. */
export function secondsLeft(pair: CertificatePair | undefined, nowMs: number): number {
  return pair === undefined ? Number.POSITIVE_INFINITY : Math.trunc((pair.notAfter - nowMs) / 1_000);
}
