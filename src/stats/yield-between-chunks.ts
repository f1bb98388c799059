import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';

/** Lets other work run before a chunk of a long list, unless it is the first. */
export async function yieldBetweenChunks(from: number, signal: AbortSignal): Promise<void> {
  if (from === 0) return;
  await yieldToEventLoop();
  signal.throwIfAborted();
}
