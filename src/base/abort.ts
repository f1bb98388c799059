import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import { TubeletError } from './errors.ts';

/** A signal that aborts with another one until it is released. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Detaches the signal from its parent and timer; afterwards only `abort` aborts it. Harmless when repeated. */
  release(): void;
}

interface LinkedTimeout {
  readonly clock: Pick<Clock, 'after'>;
  readonly ms: number;
}

/**
 * A signal that aborts with its parent (with the parent's reason) or after a time (with a `timeout` error). Parents live
 * as long as the process, so the caller must release the link; AbortSignal.any and AbortSignal.timeout cannot be released
 * and do not use our clock.
 */
export function linkedSignal(parent: AbortSignal | undefined, timeout?: LinkedTimeout): LinkedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  if (parent?.aborted) {
    controller.abort(parent.reason);
    return { signal, abort: () => {}, release: () => {} };
  }

  // Many listeners on one signal are no leak, because each is removed: Node need not warn of eleven.
  if (parent !== undefined) setMaxListeners(0, parent);
  const onParent = (): void => abort(parent?.reason);
  const cancelTimer = timeout?.clock.after(timeout.ms, () =>
    abort(new TubeletError('timeout', `timed out after ${timeout.ms} ms`)),
  );
  parent?.addEventListener('abort', onParent, { once: true });

  function release(): void {
    parent?.removeEventListener('abort', onParent);
    cancelTimer?.();
  }
  function abort(reason?: unknown): void {
    release();
    controller.abort(reason);
  }
  return { signal, abort, release };
}

/**
 * The promise's outcome, or the signal's reason if that comes first. The promise itself goes on and its outcome is
 * ignored. Not for a promise that outlives many races: each would leave its handlers on it.
 */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    // Each race removes its listener, however many there are at once.
    setMaxListeners(0, signal);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * Runs with a deadline. It ends at the deadline even when `run` ignores its signal; `run` then goes on unobserved, so it
 * should not ignore it.
 */
export async function withTimeout<T>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  run: (signal: AbortSignal) => Promise<T>,
  parent?: AbortSignal,
): Promise<T> {
  const linked = linkedSignal(parent, { clock, ms });
  try {
    linked.signal.throwIfAborted();
    return await raceAbort(run(linked.signal), linked.signal);
  } finally {
    linked.release();
  }
}
