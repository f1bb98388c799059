import { randomBytes } from 'node:crypto';
import type { Random } from './random.ts';

/** The randomness of this machine: cheap numbers for jitter, strong bytes for names. */
export function systemRandom(): Random {
  return {
    next: () => Math.random(),
    hex: (bytes) => randomBytes(bytes).toString('hex'),
  };
}
