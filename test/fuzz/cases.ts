import { seededRandom } from '../../src/testing/seeded-random.ts';
import { Dice } from '../simulation/dice.ts';
import type { FuzzCase } from './case.ts';
import { bodyCase, haltCase, pageCase, pipelineCase, smuggleCase, spoiltCase } from './http1-cases.ts';
import { http2OddCase, http2PageCase } from './http2-cases.ts';
import { damagedCase, handshakeCase, mistakenCase } from './tls-cases.ts';
import { upgradeCase } from './upgrade-cases.ts';

interface Kind {
  readonly make: (dice: Dice, hello: Buffer) => FuzzCase;
  /** How often it is tried; what has most behind it comes most often. */
  readonly weight: number;
}

const kinds = {
  page: { make: pageCase, weight: 26 },
  pipeline: { make: pipelineCase, weight: 5 },
  spoilt: { make: spoiltCase, weight: 12 },
  smuggle: { make: smuggleCase, weight: 5 },
  body: { make: bodyCase, weight: 7 },
  halt: { make: haltCase, weight: 3 },
  upgrade: { make: upgradeCase, weight: 16 },
  http2: { make: http2PageCase, weight: 9 },
  http2Odd: { make: http2OddCase, weight: 10 },
  handshake: { make: handshakeCase, weight: 4 },
  damaged: { make: damagedCase, weight: 3 },
  mistaken: { make: mistakenCase, weight: 2 },
} as const satisfies Record<string, Kind>;
const weights = Object.fromEntries(Object.entries(kinds).map(([name, { weight }]) => [name, weight])) as Record<
  keyof typeof kinds,
  number
>;

/** Case number `number` of a seed: the same one whenever it is asked for. */
export function makeCase(seed: number, number: number, hello: Buffer): FuzzCase {
  const dice = new Dice(seededRandom(seed * 1_000_003 + number));
  return kinds[dice.weighted(weights)].make(dice, hello);
}
