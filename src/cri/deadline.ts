import { linkedSignal, raceAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';
import type { Invocation, Invoke } from './invoke.ts';

export interface CriTimeouts {
  /** The deadline of most verbs, `runtimeRequestTimeout`; the others are derived from it. */
  readonly requestMs: number;
}

/** Sandboxes pull in the network and the pause image, so their verbs get twice the time. */
export function twice(_request: unknown, requestMs: number): number {
  return 2 * requestMs;
}

/** The runtime waits itself before it answers: that time comes on top. */
export function onTopOfSeconds(seconds: bigint, requestMs: number): number {
  return (seconds > 0n ? Number(seconds) * 1_000 : 0) + requestMs;
}

/** Takes as long as it takes; whoever calls gives up. */
export function unlimited(): undefined {
  return undefined;
}

/** How long a call may take; undefined is without end. */
function limitOf<Request, Response>(
  invocation: Invocation<Request, Response>,
  timeouts: CriTimeouts,
): number | undefined {
  if (invocation.options.timeoutMs !== undefined) return invocation.options.timeoutMs;
  const { limitMs } = invocation.traits;
  return limitMs === undefined ? timeouts.requestMs : limitMs(invocation.request, timeouts.requestMs);
}

/**
 * Decorator: gives a call up at its deadline. By our clock and not by gRPC's own deadline, which is a wall time: setting
 * the wall must not end calls, and fakes keep the same deadlines on virtual time. The runtime learns of it as a
 * cancelled call.
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
