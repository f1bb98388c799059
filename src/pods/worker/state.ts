import type { DesiredPod } from '../../model/desired-pod.ts';
import type { PodReference } from '../../model/pod-reference.ts';
import type { DecidedEnd, Termination } from '../../model/sync-outcome.ts';
import { computeGrace } from './compute-grace.ts';

/**
 * The lifecycle of one pod on this node. States only advance; after `finished` a new life may begin.
 *
 *   waiting ─────turn─────> syncing          a static pod waits while an older one of its full name is still there
 *      │                       │
 *      killed, removed    killed, removed, ended, deletion asked for
 *      │                       v
 *      └─────────────────> terminating       containers are being stopped; grace can only shrink
 *                              │ stopped
 *                              v
 *                         terminated         nothing runs; volumes and cgroups are being released
 *                              │ cleaned
 *                              v
 *                          finished ──(configured again after removal)──> a new life
 */
export type WorkerState = WaitingState | SyncingState | TerminatingState | TerminatedState | FinishedState;

/** The pod of a worker: one that a source named, or one that only the runtime knows. */
export type PodTarget =
  | { readonly kind: 'desired'; readonly pod: DesiredPod }
  | ({ readonly kind: 'orphan' } & PodReference);

interface WaitingState {
  readonly phase: 'waiting';
  readonly pod: DesiredPod;
}

interface SyncingState {
  readonly phase: 'syncing';
  readonly pod: DesiredPod;
}

interface EndingState {
  readonly target: PodTarget;
  readonly decided?: DecidedEnd;
  /** Its source does not name the pod any more. */
  readonly removedFromSource: boolean;
  /** Named again under the same uid after its source removed it: the pod of the life after `finished`. */
  readonly next?: DesiredPod;
}

interface TerminatingState extends EndingState {
  readonly phase: 'terminating';
  readonly graceSeconds: number;
}

interface TerminatedState extends EndingState {
  readonly phase: 'terminated';
}

interface FinishedState extends EndingState {
  readonly phase: 'finished';
}

export type WorkerEvent =
  /** A source named the pod, for the first time or again. `mustWait`: an older pod of its full name has not finished. */
  | { readonly type: 'configured'; readonly pod: DesiredPod; readonly mustWait: boolean }
  /** The runtime has a pod that no source names. */
  | ({ readonly type: 'orphaned' } & PodReference)
  | { readonly type: 'turn' }
  | { readonly type: 'removed' }
  | ({ readonly type: 'killed' } & Partial<Termination>)
  /** All containers ended by themselves and none may start again. */
  | { readonly type: 'ended' }
  | { readonly type: 'stopped' }
  | { readonly type: 'cleaned' };

/** Orphans get the shortest grace period, because no source wants them and their spec is unknown. */
const orphanGraceSeconds = 1;

/** The next state. An event that has no effect in a state returns the same object. */
export function reduceWorker(state: WorkerState | undefined, event: WorkerEvent): WorkerState | undefined {
  switch (event.type) {
    case 'configured':
      return configured(state, event.pod, event.mustWait);
    case 'orphaned':
      if (state !== undefined) return state;
      return {
        phase: 'terminating',
        target: { kind: 'orphan', uid: event.uid, name: event.name, namespace: event.namespace },
        graceSeconds: orphanGraceSeconds,
        removedFromSource: true,
      };
    case 'turn':
      return state?.phase === 'waiting' ? { phase: 'syncing', pod: state.pod } : state;
    case 'removed':
      return removed(state);
    case 'killed':
      return killed(state, event.graceSeconds, event.decided);
    case 'ended':
      return state?.phase === 'syncing' ? terminating(state.pod, {}) : state;
    case 'stopped':
      return state?.phase === 'terminating' ? { phase: 'terminated', ...ending(state) } : state;
    case 'cleaned':
      return state?.phase === 'terminated' ? { phase: 'finished', ...ending(state) } : state;
    default:
      return event satisfies never;
  }
}

function configured(state: WorkerState | undefined, pod: DesiredPod, mustWait: boolean): WorkerState {
  if (state === undefined || state.phase === 'waiting' || state.phase === 'syncing') {
    if (mustTerminate(pod)) return terminating(pod, {});
    const waits = state === undefined ? mustWait : state.phase === 'waiting';
    return waits ? { phase: 'waiting', pod } : { phase: 'syncing', pod };
  }
  if (state.removedFromSource) return { ...state, next: pod };
  const target = { kind: 'desired', pod } as const;
  if (state.phase !== 'terminating') return { ...state, target };
  return { ...state, target, graceSeconds: computeGrace({ pod, current: state.graceSeconds }) };
}

function removed(state: WorkerState | undefined): WorkerState | undefined {
  if (state === undefined) return undefined;
  // Also a pod that waits may have containers: those it ran before the agent was restarted and its source named it again.
  if (state.phase === 'waiting' || state.phase === 'syncing') {
    return terminating(state.pod, { removedFromSource: true });
  }
  const { next: _, ...rest } = state;
  return { ...rest, removedFromSource: true };
}

function killed(state: WorkerState | undefined, graceSeconds?: number, decided?: DecidedEnd): WorkerState | undefined {
  switch (state?.phase) {
    case undefined:
    case 'terminated':
    case 'finished':
      return state;
    // The end of a pod that waits must be published in its status too.
    case 'waiting':
    case 'syncing':
      return terminating(state.pod, { ...defined({ graceSeconds, decided }) });
    case 'terminating': {
      const grace = shortenGrace(state, graceSeconds);
      // The first reason stays, because that one ended the pod.
      const why = state.decided ?? decided;
      return grace === state.graceSeconds && why === state.decided
        ? state
        : { ...state, graceSeconds: grace, ...defined({ decided: why }) };
    }
    default:
      return state satisfies never;
  }
}

function shortenGrace(state: TerminatingState, override: number | undefined): number {
  if (state.target.kind === 'orphan' || override === undefined) return state.graceSeconds;
  return computeGrace({ pod: state.target.pod, current: state.graceSeconds, override });
}

function terminating(
  pod: DesiredPod,
  how: { readonly graceSeconds?: number; readonly decided?: DecidedEnd; readonly removedFromSource?: boolean },
): TerminatingState {
  return {
    phase: 'terminating',
    target: { kind: 'desired', pod },
    graceSeconds: computeGrace({ pod, ...defined({ override: how.graceSeconds }) }),
    removedFromSource: how.removedFromSource ?? false,
    ...defined({ decided: how.decided }),
  };
}

function ending(state: EndingState): EndingState {
  const { target, decided, removedFromSource, next } = state;
  return { target, removedFromSource, ...defined({ decided, next }) };
}

/** The pod was deleted or has a terminal phase in the API: it must not run (again). */
function mustTerminate(pod: DesiredPod): boolean {
  const { phase } = pod.status;
  return pod.metadata.deletionTimestamp !== undefined || phase === 'Succeeded' || phase === 'Failed';
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that have a value, so that absent ones stay absent. */
function defined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** The pod of a state. */
export function targetOf(state: WorkerState): PodTarget {
  return state.phase === 'waiting' || state.phase === 'syncing' ? { kind: 'desired', pod: state.pod } : state.target;
}

/**
 * Whether the pod is named again and its new life continues the former one: each container is restarted with the next
 * attempt. Containers that may not always restart cannot continue, so for their pods all of the former life is removed.
 */
export function continuesFormerLife(state: WorkerState | undefined): boolean {
  if (state?.phase !== 'finished' || state.next === undefined) return false;
  const { restartPolicy = 'Always', containers } = state.next.spec;
  return [restartPolicy, ...containers.map((container) => container.restartPolicy ?? 'Always')].every(
    (policy) => policy === 'Always',
  );
}
