import type { ContainerId } from '../../base/ids.ts';
import type { ObservedContainer } from '../../model/observed-pod.ts';
import type { LastKnown, ProbeType, ProbeResult } from './ports.ts';
import type { ProbeSettings } from './probe-settings.ts';

/**
 * The life of one probe. A new container instance starts it again from any state but `over`.
 *
 *   unseen ──an instance shows up──> seen ──runs, delay over, started──> probing ──final result────────> held
 *     │                               ^  └──────────────ends───────────────┘                              │
 *     │                               └────────────────── a new instance ─────────────────────────────────┤
 *     └───────────── the pod goes (liveness, startup), or the container has ended for good ───────────────┴──> over
 */
export type ProbeState =
  | { readonly kind: 'unseen' }
  | Seen
  | Probing
  /** Nothing is probed until there is a new instance: the result of this one is final. */
  | { readonly kind: 'held'; readonly id: ContainerId; readonly result: ProbeResult }
  | { readonly kind: 'over'; readonly id?: ContainerId; readonly result: ProbeResult };

interface Seen {
  readonly kind: 'seen';
  readonly id: ContainerId;
  readonly result: ProbeResult;
  /** Monotonic time at which it was first seen running. */
  readonly runsSince?: number;
}

export interface Probing {
  readonly kind: 'probing';
  readonly id: ContainerId;
  /** The result in force. */
  readonly result: ProbeResult;
  /** The result of the last tries that counted, and how many of them in a row. */
  readonly last?: 'success' | 'failure';
  readonly run: number;
  /** Monotonic times of the next try that counts and of the next try at all. */
  readonly regularAt: number;
  readonly nextAt: number;
  /** Extra tries made between the regular ones; absent when there are none to be made. */
  readonly extra?: number;
}

/** What a worker sees when it reconciles. */
export interface ProbeView {
  readonly monotonic: number;
  readonly wall: number;
  /** The newest instance of the container. */
  readonly container: Pick<ObservedContainer, 'id' | 'state' | 'startedAt'> | undefined;
  /** The startup probe of the instance has succeeded, or there is none. */
  readonly started: boolean;
  /** The pod is being stopped. */
  readonly ending: boolean;
  readonly endsForGood: boolean;
  /** When the agent started, on both clocks. */
  readonly agentStart: { readonly monotonic: number; readonly wall: number };
  readonly lastKnown: LastKnown | undefined;
  /** In [0, 1): the part of the period after which this worker begins, where many would begin at the same time. */
  readonly share: number;
}

export interface ProbeStep {
  readonly state: ProbeState;
  readonly next: { readonly kind: 'wait'; readonly ms: number } | { readonly kind: 'try' } | { readonly kind: 'end' };
}

/** The result of a try; `nothing` when it could not be carried out, `inconclusive` when another one follows soon. */
export type TryResult = 'success' | 'failure' | 'nothing' | 'inconclusive';

/** The first extra try comes this long after the first try, the others after twice the wait before. */
const extraTryMs = 100;
/** Extra tries are for probes that are slower than this. */
const extraTriesAboveMs = 1_000;
const afterInconclusiveMs = 1_000;
/** New instances wake the worker; this is the slow resync behind that. */
const heldRecheckMs = 60_000;
const sameInstantMs = 0.001;

/** The result of an instance before the first try: healthy, not ready, not known to have started. */
export function initialResult(type: ProbeType): ProbeResult {
  switch (type) {
    case 'Liveness':
      return 'success';
    case 'Readiness':
      return 'failure';
    case 'Startup':
      return 'unknown';
    default:
      return type satisfies never;
  }
}

/** The next state and what to do now. Calling it more often than needed changes nothing. */
export function nextStep(state: ProbeState, settings: ProbeSettings, view: ProbeView): ProbeStep {
  if (state.kind === 'over') return over(state);
  // A container that is being stopped must not fail its liveness probe. A startup probe keeps its result, so that readiness
  // of a container that has not started is not probed.
  if (view.ending && settings.type !== 'Readiness') {
    const known = state.kind !== 'unseen' && state.id === (view.container?.id ?? state.id) ? state : undefined;
    const id = view.container?.id ?? known?.id;
    const result = settings.type === 'Startup' && known !== undefined ? known.result : 'success';
    return over({ kind: 'over', ...(id !== undefined && { id }), result });
  }
  const { container } = view;
  if (container === undefined) return wait(state, settings.periodMs);
  const current = state.kind !== 'unseen' && state.id === container.id ? state : adopt(settings, view, container);
  if (current.kind === 'held') return wait(current, heldRecheckMs);

  if (container.state === 'created') return wait(current, settings.periodMs);
  if (container.state !== 'running') {
    const { id } = container;
    if (container.state === 'exited' && view.endsForGood) return over({ kind: 'over', id, result: 'failure' });
    return wait({ kind: 'seen', id, result: 'failure' }, settings.periodMs);
  }
  if (current.kind === 'probing') return tryWhenDue(current, view);

  const runsSince = current.runsSince ?? view.monotonic;
  const waiting: Seen = { ...current, runsSince };
  const delayMs = initialDelay(settings, view, container.startedAt, runsSince);
  if (delayMs > sameInstantMs) return wait(waiting, delayMs);
  if (settings.type !== 'Startup' && !view.started) return wait(waiting, settings.periodMs);
  return tryWhenDue(begin(settings, view, container.startedAt, current), view);
}

function tryWhenDue(state: Probing, view: ProbeView): ProbeStep {
  const ms = state.nextAt - view.monotonic;
  return ms > sameInstantMs ? wait(state, ms) : { state, next: { kind: 'try' } };
}

/** Whether a failure of the try that is due counts; one of an extra try does not. */
export function counts(state: Probing): boolean {
  return state.nextAt >= state.regularAt;
}

/** The state after the try that was due. */
export function conclude(
  state: Probing,
  settings: ProbeSettings,
  result: TryResult,
  monotonic: number,
): Exclude<ProbeState, { readonly kind: 'unseen' }> {
  const scheduled = schedule(state, settings, result, monotonic);
  if (result === 'nothing' || result === 'inconclusive') return scheduled;
  if (result === 'failure' && !counts(state)) return scheduled;

  const run = state.last === result ? state.run + 1 : 1;
  const threshold = result === 'success' ? settings.successThreshold : settings.failureThreshold;
  if (run < threshold) return { ...scheduled, last: result, run };
  const settled = settings.type === 'Startup' || (settings.type === 'Liveness' && result === 'failure');
  if (settled) return { kind: 'held', id: state.id, result };
  return { ...scheduled, last: result, run, result };
}

function schedule(state: Probing, settings: ProbeSettings, result: TryResult, monotonic: number): Probing {
  const counted = counts(state);
  // A try that outlasted its period is followed by the next at once, but periods that were missed are not made up for.
  const nextRegular = Math.max(state.regularAt + settings.periodMs, monotonic);
  const soon = result === 'inconclusive' ? Math.min(nextRegular, monotonic + afterInconclusiveMs) : nextRegular;
  const regularAt = counted ? soon : state.regularAt;

  const { extra, ...rest } = state;
  if (extra === undefined || result === 'success') return { ...rest, regularAt, nextAt: regularAt };
  const made = counted ? extra : extra + 1;
  const extraAt = monotonic + extraTryMs * 2 ** made;
  if (extraAt >= regularAt) return { ...rest, regularAt, nextAt: regularAt };
  return { ...rest, regularAt, nextAt: extraAt, extra: made };
}

/** The state of an instance that the worker sees for the first time. */
function adopt(
  settings: ProbeSettings,
  view: ProbeView,
  container: { readonly id: ContainerId; readonly startedAt: number },
): ProbeState & { readonly kind: 'seen' | 'held' } {
  const { id } = container;
  // The last known result counts only for instances of an earlier run of the agent: this run has its own probes.
  const known = isInherited(view, container.startedAt) ? view.lastKnown : undefined;
  if (settings.type === 'Startup' && known?.started === true) return { kind: 'held', id, result: 'success' };
  if (settings.type === 'Readiness' && known?.ready === true) return { kind: 'seen', id, result: 'success' };
  return { kind: 'seen', id, result: initialResult(settings.type) };
}

/** The first try is due at once; those of inherited results that are a success are spread over a period at the agent's start. */
function begin(settings: ProbeSettings, view: ProbeView, startedAt: number, { id, result }: Seen): Probing {
  const inherited = isInherited(view, startedAt);
  const sinceAgentStart = view.monotonic - view.agentStart.monotonic;
  const spreadMs =
    inherited && result === 'success' && sinceAgentStart < settings.periodMs ? view.share * settings.periodMs : 0;
  const at = view.monotonic + spreadMs;
  const hasExtra = settings.type !== 'Liveness' && settings.periodMs > extraTriesAboveMs && !inherited;
  return { kind: 'probing', id, result, run: 0, regularAt: at, nextAt: at, ...(hasExtra && { extra: 0 }) };
}

/** What is left of the delay. The clock may have been set since the start, so the monotonic time counts as well. */
function initialDelay(settings: ProbeSettings, view: ProbeView, startedAt: number, runsSince: number): number {
  return settings.initialDelayMs - Math.max(view.wall - startedAt, view.monotonic - runsSince);
}

/** The container is older than this run of the agent. */
function isInherited(view: ProbeView, startedAt: number): boolean {
  return startedAt > 0 && startedAt < view.agentStart.wall;
}

const wait = (state: ProbeState, ms: number): ProbeStep => ({ state, next: { kind: 'wait', ms } });
const over = (state: ProbeState & { readonly kind: 'over' }): ProbeStep => ({ state, next: { kind: 'end' } });
