import type { Clock } from './clock.ts';
import { LoopHeartbeat, type Heartbeats, type Round } from './heartbeats.ts';
import type { Log } from './log.ts';
import { yieldToEventLoop } from './yield-to-event-loop.ts';
import { jitter, type Random } from './random.ts';

export interface LoopOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
  /** Ends the loop. */
  readonly signal: AbortSignal;
  /** Where the loop shows that it goes on. */
  readonly heartbeats: Heartbeats;
  /** Pods do not come, change or go while this loop stands still. */
  readonly carriesPods?: boolean;
  /** The longest deadline of a single step, where it may be longer than those of calls to the runtime; Infinity for none. */
  readonly maxStepMs?: number;
  /**
   * One round: wait for something, read, decide, act. Every wait on purpose goes through `round.waitFor`, for whatever
   * else takes minutes counts as hung; a round of several long steps calls `round.beat` between them.
   */
  readonly body: (signal: AbortSignal, round: Round) => Promise<void>;
  /** The wait after a round that threw; doubled with each failure in a row. */
  readonly restartBackoff?: { readonly initialMs: number; readonly maxMs: number };
}

export interface LoopHandle {
  /** Resolves when the loop has ended; never rejects. */
  readonly done: Promise<void>;
}

const defaultRestartBackoff = { initialMs: 1_000, maxMs: 60_000 };
const jitterFraction = 0.2;
/** Rounds that end without any real wait would keep all other callbacks of the process from running. */
const roundsBetweenTurns = 256;

/**
 * Runs a body round after round until the signal aborts. A round that throws is logged under the loop's name and the
 * loop goes on after a back-off: one bad pod ends no loop of the agent.
 *
 *   round ──ok──> round …        round ──throws──> back off ──> round …        signal ──> ended
 */
export function superviseLoop(options: LoopOptions): LoopHandle {
  const { clock, heartbeats } = options;
  const heartbeat = new LoopHeartbeat(options, () => clock.monotonic());
  heartbeats.add(heartbeat);
  return { done: runRounds(options, heartbeat).finally(() => heartbeats.remove(heartbeat)) };
}

async function runRounds(options: LoopOptions, heartbeat: LoopHeartbeat): Promise<void> {
  const { signal, body } = options;
  const { initialMs, maxMs } = options.restartBackoff ?? defaultRestartBackoff;
  let delayMs = initialMs;
  // The first round begins when the caller has its handle.
  await Promise.resolve();
  for (let round = 1; !signal.aborted; round++) {
    try {
      heartbeat.began();
      await body(signal, heartbeat);
      heartbeat.ended();
      delayMs = initialMs;
      if (round % roundsBetweenTurns === 0) await yieldToEventLoop();
    } catch (error) {
      if (signal.aborted) return;
      heartbeat.failed();
      await backOff(options, error, jitter(options.random, delayMs, jitterFraction));
      delayMs = Math.min(delayMs * 2, maxMs);
    }
  }
}

async function backOff(options: LoopOptions, error: unknown, delayMs: number): Promise<void> {
  try {
    options.log.error(error, 'Loop failed and will go on', { loop: options.name, retryInMs: Math.round(delayMs) });
  } catch {
    // A log that fails has nowhere to report that; the loop must go on without its line.
  }
  try {
    await options.clock.sleep(delayMs, options.signal);
  } catch {
    // Only the signal ends a sleep early, and the caller checks the signal.
  }
}
