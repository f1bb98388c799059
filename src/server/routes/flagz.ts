import type { Random } from '../../base/random.ts';
import type { Handler } from '../route.ts';
import { peoplePage, type PageLine } from './people-page.ts';

interface FlagzDeps {
  readonly random: Pick<Random, 'next'>;
  /** Names with values, secrets masked. */
  readonly flags: readonly PageLine[];
}

/** `/flagz`: the flags in effect, sorted by name. */
export function flagzHandler({ random, flags }: FlagzDeps): Handler {
  const sorted = flags.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return async (request) => peoplePage('flagz', sorted, random, request);
}
