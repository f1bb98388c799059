import type { Clock } from '../../base/clock.ts';
import { isKind } from '../../base/errors.ts';
import type { Wakeup } from '../../base/wakeup.ts';
import { hasReached } from './judge-hint.ts';
import type { HintedState, ObservableRuntime } from './ports.ts';
import { containerState, sandboxState } from './to-observed.ts';

interface ConfirmDeps {
  readonly clock: Pick<Clock, 'after'>;
  readonly runtime: Pick<ObservableRuntime, 'containerStatus' | 'podSandboxStatus'>;
}

/** A container or sandbox that was said to have changed, while the runtime may not show it yet. */
export interface Claim {
  readonly id: string;
  readonly sandbox: boolean;
  readonly state: HintedState;
  /** Somebody else has seen it meanwhile. */
  readonly isKnown: () => boolean;
  /** How often it has been claimed so far. */
  readonly words: () => number;
}

/**
 * containerd shows an exit some tens of milliseconds after it told of it, when it has cleaned up and written it down; on
 * a busy machine that may take seconds.
 */
const firstWaitMs = 10;
const longestWaitMs = 1_000;
const mostAsks = 36;

/** Whether to look at the pod: `seen` shows what was claimed, `known` is no news any more, `unclear` shows nothing yet. */
type ClaimOutcome = 'seen' | 'known' | 'unclear';

/**
 * Asks the runtime about one container until it shows what was claimed: a single cheap question each time, where a look
 * of the pod's worker that comes too early would cost a round of all its containers, and be in vain.
 */
export async function confirmClaim(
  deps: ConfirmDeps,
  claim: Claim,
  nudge: Wakeup,
  signal: AbortSignal,
): Promise<ClaimOutcome> {
  let heard = claim.words();
  let waitMs = firstWaitMs;
  for (let ask = 0; ask < mostAsks; ask++) {
    // A second word of the same thing means that the runtime has got on: now is a good time to ask.
    if (claim.words() === heard) await pause(deps.clock, waitMs, nudge, signal);
    waitMs = claim.words() === heard ? Math.min(2 * waitMs, longestWaitMs) : firstWaitMs;
    heard = claim.words();
    if (claim.isKnown()) return 'known';
    if (await shows(deps.runtime, claim, signal)) return 'seen';
  }
  return 'unclear';
}

async function shows(runtime: ConfirmDeps['runtime'], claim: Claim, signal: AbortSignal): Promise<boolean> {
  try {
    return hasReached(await askState(runtime, claim, signal), claim.state);
  } catch (error) {
    // What is gone has been through everything.
    if (isKind(error, 'notFound')) return true;
    throw error;
  }
}

async function askState(runtime: ConfirmDeps['runtime'], claim: Claim, signal: AbortSignal): Promise<string> {
  if (claim.sandbox) {
    const { status } = await runtime.podSandboxStatus({ podSandboxId: claim.id, verbose: false }, { signal });
    return status === undefined ? 'unknown' : `sandbox ${sandboxState(status.state)}`;
  }
  const { status } = await runtime.containerStatus({ containerId: claim.id, verbose: false }, { signal });
  return status === undefined ? 'unknown' : containerState(status.state);
}

async function pause(clock: ConfirmDeps['clock'], ms: number, nudge: Wakeup, signal: AbortSignal): Promise<void> {
  const cancel = clock.after(ms, () => nudge.wake());
  try {
    await nudge.wait(signal);
  } finally {
    cancel();
  }
}
