import type { Clock } from '../../base/clock.ts';
import { isKind } from '../../base/errors.ts';
import type { Wakeup } from '../../base/wakeup.ts';
import { hasReached } from './classify-event.ts';
import type { EventState, ObservableRuntime } from './ports.ts';
import { containerState, sandboxState } from './to-observed.ts';

interface ConfirmDeps {
  readonly clock: Pick<Clock, 'after'>;
  readonly runtime: Pick<ObservableRuntime, 'containerStatus' | 'podSandboxStatus'>;
}

/** A change of a container or sandbox that an event reported, while the runtime may not show it yet. */
export interface Claim {
  readonly id: string;
  readonly sandbox: boolean;
  readonly state: EventState;
  /** An inspection or a relist has seen it meanwhile. */
  readonly isKnown: () => boolean;
  /** How many events have reported it so far. */
  readonly reports: () => number;
}

/**
 * containerd shows an exit some tens of milliseconds after its event, when it has cleaned up and written it down; on a
 * busy machine that may take seconds.
 */
const firstWaitMs = 10;
const maxWaitMs = 1_000;
const maxAsks = 36;

/** `seen`: the runtime shows the change. `known`: it is no news any more. `unclear`: the runtime does not show it yet. */
type ClaimOutcome = 'seen' | 'known' | 'unclear';

/**
 * Asks the runtime about one container until it shows the change: a single cheap call each time, where a sync of the
 * pod's worker that comes too early would cost calls for all its containers and see the old state.
 */
export async function confirmClaim(
  deps: ConfirmDeps,
  claim: Claim,
  nudge: Wakeup,
  signal: AbortSignal,
): Promise<ClaimOutcome> {
  let seenReports = claim.reports();
  let waitMs = firstWaitMs;
  for (let ask = 0; ask < maxAsks; ask++) {
    // A second event about the same change means that the runtime has made progress: ask at once.
    if (claim.reports() === seenReports) await pause(deps.clock, waitMs, nudge, signal);
    waitMs = claim.reports() === seenReports ? Math.min(2 * waitMs, maxWaitMs) : firstWaitMs;
    seenReports = claim.reports();
    if (claim.isKnown()) return 'known';
    if (await shows(deps.runtime, claim, signal)) return 'seen';
  }
  return 'unclear';
}

async function shows(runtime: ConfirmDeps['runtime'], claim: Claim, signal: AbortSignal): Promise<boolean> {
  try {
    return hasReached(await askState(runtime, claim, signal), claim.state);
  } catch (error) {
    // A container that was removed has been through all states.
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
