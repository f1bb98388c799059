import { jitter, type Random } from '../../base/random.ts';

/** The part of a certificate's life after which the next one is asked for. */
export interface RotationWindow {
  readonly least: number;
  readonly most: number;
}

interface Lifetime {
  readonly notBefore: number;
  readonly notAfter: number;
}

export const usualWindow: RotationWindow = { least: 0.7, most: 0.9 };
const firstDelayMs = 2_000;
const longestDelayMs = 32_000;
const delayJitter = 0.1;
/** Even when nothing is due: the wall may have been set, or somebody may have put another certificate there. */
const longestWaitMs = 3_600_000;

/** When to ask for the next certificate: spread, so that a fleet that was born together does not ask together. */
export function rotationDeadline({ notBefore, notAfter }: Lifetime, random: Random, window: RotationWindow): number {
  const part = window.least + random.next() * (window.most - window.least);
  return notBefore + (notAfter - notBefore) * part;
}

/** The wait after so many failures in a row: 2 s, 4 s, 8 s, 16 s, and 32 s from then on, each a little longer. */
export function retryDelayMs(failures: number, random: Random): number {
  const base = Math.min(firstDelayMs * 2 ** (Math.max(1, failures) - 1), longestDelayMs);
  return jitter(random, base, delayJitter);
}

interface RotationView {
  readonly now: number;
  readonly current: Lifetime | undefined;
  /** Of the current one. */
  readonly rotateAt: number;
  /** Enough is known to ask for one. */
  readonly canAsk: boolean;
  /** The current one says what it shall say. */
  readonly isFitting: boolean;
}

type RotationStep =
  | { readonly act: 'request'; readonly why: string }
  | { readonly act: 'wait'; readonly forMs: number; readonly why: string };

export function decideRotation({ now, current, rotateAt, canAsk, isFitting }: RotationView): RotationStep {
  if (!canAsk) return { act: 'wait', forMs: longestWaitMs, why: 'it is not known yet what to ask for' };
  if (current === undefined) return { act: 'request', why: 'there is no certificate' };
  if (now >= current.notAfter) return { act: 'request', why: 'the certificate has expired' };
  if (!isFitting) return { act: 'request', why: 'the certificate does not say what it shall say any more' };
  if (now >= rotateAt) return { act: 'request', why: 'the certificate comes to its end' };
  return { act: 'wait', forMs: Math.min(rotateAt - now, longestWaitMs), why: 'the certificate is good' };
}
