import type { PodUid } from '../../base/ids.ts';
import type { KnownItem } from './known-listing.ts';
import type { Hint, HintedState } from './ports.ts';

/**
 * What a hint is worth to somebody who knows the last listing:
 * - `known`: it tells nothing new, most often because it is the echo of what we did ourselves
 * - `news`: the pod must look again
 * - `unknown`: nobody can say yet whose container that is
 */
export type HintVerdict =
  | { readonly type: 'known' }
  | { readonly type: 'news'; readonly uid: PodUid }
  | { readonly type: 'unknown'; readonly id: string };

/** How far a life has come. A state that the runtime lost track of is only known to have begun. */
const progress: Readonly<Record<string, number>> = {
  unknown: 1,
  created: 1,
  running: 2,
  'sandbox ready': 2,
  exited: 3,
  'sandbox notReady': 3,
  gone: 4,
};

/** Whether what is listed is already what was hinted at, or beyond. */
export function hasReached(listed: string, hinted: HintedState): boolean {
  return (progress[listed] ?? 0) >= (progress[hinted] ?? 0);
}

/** `item` is what is listed under the hint's id, if anything is. */
export function judgeHint(hint: Hint, item: KnownItem | undefined): HintVerdict {
  if (item !== undefined) {
    const known = hint.state !== undefined && hasReached(item.state, hint.state);
    return known ? { type: 'known' } : { type: 'news', uid: item.uid };
  }
  if (hint.state === 'gone') return { type: 'known' };
  // Being created is the first thing told of it. Ahead of the runtime there is nothing to see yet; more word will come.
  if (hint.state === 'created' && hint.ahead === true) return { type: 'known' };
  if (hint.uid !== undefined) return { type: 'news', uid: hint.uid };
  return hint.containerId === undefined ? { type: 'known' } : { type: 'unknown', id: hint.containerId };
}
