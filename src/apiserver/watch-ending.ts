import { kindOf, TubeletError } from '../base/errors.ts';
import { isExpired, isTooNew } from './api-error.ts';

/** How a list or a watch came to its end. */
export type WatchEnding =
  | { readonly how: 'ended'; readonly livedMs: number }
  | { readonly how: 'failed'; readonly error: unknown }
  | { readonly how: 'stale' };

export interface NextStep {
  /**
   * Where to continue: the watch at its last version, a list not older than what is known, or the newest list, even
   * if it is older.
   */
  readonly from: 'watch' | 'list' | 'newestList';
  readonly backOff: boolean;
  /** Existing connections may be dead. */
  readonly reset: boolean;
}

/** Without this limit a server that ends each watch at once would be asked without pause. */
const shortMs = 1_000;

/**
 * A watch that broke off lost nothing by itself: it can continue at its version. But a server that restarted may have
 * an older store, and would then send nothing until it has caught up with that version. A list not older than that
 * version reveals this. So there is a list after every break; a watch that ended normally continues.
 */
export function stepAfter(ending: WatchEnding): NextStep {
  if (ending.how === 'ended') {
    // A watch that ended before its first event proves nothing about the server's store.
    const short = ending.livedMs < shortMs;
    return { from: short ? 'list' : 'watch', backOff: short, reset: false };
  }
  if (ending.how === 'stale') return { from: 'list', backOff: false, reset: true };

  const { error } = ending;
  if (isExpired(error) || isTooNew(error) || error instanceof WentBackwards) {
    return { from: 'newestList', backOff: false, reset: false };
  }
  // While a watch is refused, a restored older store cannot be noticed, so the watch counts as broken.
  return { from: kindOf(error) === 'cancelled' ? 'watch' : 'list', backOff: true, reset: false };
}

/** The server sent a version older than an earlier one. */
export class WentBackwards extends TubeletError {
  constructor(from: string, to: string) {
    super('conflict', `the API server went back from version ${from} to ${to}; was its store restored?`);
  }
}

/** Whether `version` is older than `known`. Versions that are not numbers cannot be compared and count as newer. */
export function isOlder(version: string, known: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(known)) return false;
  return version.length === known.length ? version < known : version.length < known.length;
}
