import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';

/** Lets others have their turn before a piece of a long list, unless it is the first. */
export async function otherTurns(from: number, signal: AbortSignal): Promise<void> {
  if (from === 0) return;
  await yieldToEventLoop();
  signal.throwIfAborted();
}
