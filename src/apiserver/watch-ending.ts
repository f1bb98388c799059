import { kindOf, TubeletError } from '../base/errors.ts';
import { isExpired, isTooNew } from './api-error.ts';

/** How a list or a watch came to its end. */
export type WatchEnding =
  | { readonly how: 'ended'; readonly livedMs: number }
  | { readonly how: 'failed'; readonly error: unknown }
  | { readonly how: 'stale' };

export interface NextStep {
  /**
   * From where to go on: the watch where it was, a list not older than what is known, or the newest list there is, even
   * if it is older.
   */
  readonly from: 'watch' | 'list' | 'newestList';
  readonly backOff: boolean;
  /** Connections are not to be trusted any more. */
  readonly reset: boolean;
}

/** A server that ends each watch at once would be asked without pause. */
const shortMs = 1_000;

/**
 * A watch that broke off lost nothing by itself: it can go on where it was. But a server that went away may come back
 * with an older store, and would then keep silent about everything until it has caught up with the version named. Asked
 * for a list not older than that version it says so. So after every break there is a list; a watch that ended in order
 * just goes on.
 */
export function stepAfter(ending: WatchEnding): NextStep {
  if (ending.how === 'ended') {
    // One that was over before anything could be heard proves nothing about the server's store.
    const short = ending.livedMs < shortMs;
    return { from: short ? 'list' : 'watch', backOff: short, reset: false };
  }
  if (ending.how === 'stale') return { from: 'list', backOff: false, reset: true };

  const { error } = ending;
  if (isExpired(error) || isTooNew(error) || error instanceof WentBackwards) {
    return { from: 'newestList', backOff: false, reset: false };
  }
  // While a watch is refused nobody hears of a store that was set back, so that it is as good as broken.
  return { from: kindOf(error) === 'cancelled' ? 'watch' : 'list', backOff: true, reset: false };
}

/** The server told of a version older than what it told before. */
export class WentBackwards extends TubeletError {
  constructor(from: string, to: string) {
    super('conflict', `the API server went back from version ${from} to ${to}; was its store restored?`);
  }
}

/** Whether `version` is older than `known`. Versions that are no numbers cannot be compared and count as newer. */
export function isOlder(version: string, known: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(known)) return false;
  return version.length === known.length ? version < known : version.length < known.length;
}
