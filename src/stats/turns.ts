import { nextTurn } from '../base/next-turn.ts';

/** Lets others have their turn before a piece of a long list, unless it is the first. */
export async function otherTurns(from: number, signal: AbortSignal): Promise<void> {
  if (from === 0) return;
  await nextTurn();
  signal.throwIfAborted();
}
