import { linkedSignal, raceAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Invocation, Invoke } from './invoke.ts';

export interface CriTimeouts {
  /** The deadline of most verbs, `runtimeRequestTimeout`; the others are derived from it. */
  readonly requestMs: number;
}

/** Sandboxes need the network and the pause image, so their verbs get twice the time. */
export function twice(_request: unknown, requestMs: number): number {
  return 2 * requestMs;
}

/** The runtime itself waits before it answers, so that time is added. */
export function onTopOfSeconds(seconds: bigint, requestMs: number): number {
  return (seconds > 0n ? Number(seconds) * 1_000 : 0) + requestMs;
}

/** No deadline; the caller cancels. */
export function unlimited(): undefined {
  return undefined;
}

/** The deadline of a call; undefined for none. */
function limitOf<Request, Response>(
  invocation: Invocation<Request, Response>,
  timeouts: CriTimeouts,
): number | undefined {
  if (invocation.options.timeoutMs !== undefined) return invocation.options.timeoutMs;
  const { limitMs } = invocation.traits;
  return limitMs === undefined ? timeouts.requestMs : limitMs(invocation.request, timeouts.requestMs);
}

/**
 * Decorator: cancels a call at its deadline. By the injected clock and not by gRPC's own deadline, which is a wall
 * time: setting the wall clock must not end calls, and fakes keep the same deadlines on virtual time. The runtime sees
 * a cancelled call.
 */
export function withDeadline(next: Invoke, clock: Pick<Clock, 'after'>, timeouts: CriTimeouts): Invoke {
  return async (invocation) => {
    const ms = limitOf(invocation, timeouts);
    const caller = invocation.options.signal;
    if (ms === undefined && caller === undefined) return next(invocation);
    const linked = linkedSignal(caller);
    const cancelTimer =
      ms === undefined
        ? undefined
        : clock.after(ms, () => linked.abort(new TubeletError('timeout', `no answer within ${ms / 1_000} s`)));
    try {
      linked.signal.throwIfAborted();
      const options = { ...invocation.options, signal: linked.signal };
      return await raceAbort(next({ ...invocation, options }), linked.signal);
    } finally {
      cancelTimer?.();
      linked.release();
    }
  };
}
