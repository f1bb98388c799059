/** Randomness as the agent sees it: one injected source, so that a whole run can be replayed from one seed. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** `bytes` random bytes as lower-case hexadecimal. */
  hex(bytes: number): string;
}

/** `base` lengthened by up to `fraction` of itself, to keep a fleet of timers from beating together. */
export function jitter(random: Random, base: number, fraction: number): number {
  return base + random.next() * fraction * base;
}
