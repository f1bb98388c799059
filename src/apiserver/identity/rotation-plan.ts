import { jitter, type Random } from '../../base/random.ts';

/** The part of a certificate's life after which the next one is requested. */
export interface RotationWindow {
  readonly min: number;
  readonly max: number;
}

interface Lifetime {
  readonly notBefore: number;
  readonly notAfter: number;
}

export const usualWindow: RotationWindow = { min: 0.7, max: 0.9 };
const firstDelayMs = 2_000;
const maxDelayMs = 32_000;
const delayJitter = 0.1;
/** Even when nothing is due: the wall clock may have been set, or the certificate on disk replaced. */
const maxWaitMs = 3_600_000;

/** When to request the next certificate: spread, so that nodes that were set up together do not ask together. */
export function rotationDeadline({ notBefore, notAfter }: Lifetime, random: Random, window: RotationWindow): number {
  const part = window.min + random.next() * (window.max - window.min);
  return notBefore + (notAfter - notBefore) * part;
}

/** The wait after so many failures in a row: 2 s, 4 s, 8 s, 16 s, and 32 s from then on, each a little longer. */
export function retryDelayMs(failures: number, random: Random): number {
  const base = Math.min(firstDelayMs * 2 ** (Math.max(1, failures) - 1), maxDelayMs);
  return jitter(random, base, delayJitter);
}

interface RotationView {
  readonly now: number;
  readonly current: Lifetime | undefined;
  /** Of the current one. */
  readonly rotateAt: number;
  /** Whether enough is known to request one. */
  readonly canRequest: boolean;
  /** Whether the current one contains what it must. */
  readonly isFitting: boolean;
}

type RotationStep =
  | { readonly act: 'request'; readonly why: string }
  | { readonly act: 'wait'; readonly forMs: number; readonly why: string };

export function decideRotation({ now, current, rotateAt, canRequest, isFitting }: RotationView): RotationStep {
  if (!canRequest) return { act: 'wait', forMs: maxWaitMs, why: 'it is not known yet what to ask for' };
  if (current === undefined) return { act: 'request', why: 'there is no certificate' };
  if (now >= current.notAfter) return { act: 'request', why: 'the certificate has expired' };
  if (!isFitting) return { act: 'request', why: 'the certificate does not have the wanted contents any more' };
  if (now >= rotateAt) return { act: 'request', why: 'the certificate comes to its end' };
  return { act: 'wait', forMs: Math.min(rotateAt - now, maxWaitMs), why: 'the certificate is good' };
}
