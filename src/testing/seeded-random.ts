import type { Random } from '../base/random.ts';

/** A source that gives the same numbers for the same seed: sfc32, its state spread from the seed by splitmix32. */
export function seededRandom(seed: number): Random {
  const spread = splitmix32(seed);
  let a = spread();
  let b = spread();
  let c = spread();
  let counter = 1;

  function next32(): number {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  // The first outputs still show the seed.
  for (let round = 0; round < 12; round++) next32();

  return {
    next: () => ((next32() >>> 5) * 2 ** 26 + (next32() >>> 6)) / 2 ** 53,
    hex: (bytes) => Array.from({ length: bytes }, () => (next32() >>> 24).toString(16).padStart(2, '0')).join(''),
  };
}

/** Seeds may be any number; fractions and the upper half of large ones count too. */
function splitmix32(seed: number): () => number {
  const words = new Uint32Array(new Float64Array([seed]).buffer);
  let state = ((words[0] ?? 0) ^ Math.imul(words[1] ?? 0, 0x85ebca6b)) | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
}
