import { describeError } from '../../base/errors.ts';
import type { Decision } from '../../model/decisions.ts';
import type { WorkerEvent, WorkerState } from './state.ts';

/** The decision behind a change of a worker's state, for the flight recorder; undefined where there is none to record. */
export function workerDecision(
  before: WorkerState | undefined,
  event: WorkerEvent,
  after: WorkerState,
): Decision | undefined {
  if (before === after) return undefined;
  if (before?.phase === after.phase) return samePhaseDecision(before, after);
  switch (after.phase) {
    case 'waiting':
      return decided('wait', 'FormerPodNotFinished', 'an older pod of its full name has not finished');
    case 'syncing':
      return before === undefined
        ? undefined
        : decided('start', 'FormerPodFinished', 'the older pod of its full name has finished');
    case 'terminating':
      return { ...terminateDecision(event), inputs: { graceSeconds: after.graceSeconds } };
    case 'terminated':
      return decided('finish', 'ContainersStopped', 'nothing of the pod runs any more');
    case 'finished':
      return decided('finish', 'Released', 'volumes and cgroups were released');
    default:
      return after satisfies never;
  }
}

/** The phase stays, but the grace period is shorter, or another life will follow. */
function samePhaseDecision(before: WorkerState, after: WorkerState): Decision | undefined {
  if ('next' in after && after.next !== undefined && !('next' in before && before.next !== undefined)) {
    return decided(
      'wait',
      'FormerLifeNotOver',
      'a source names it again, and its new life begins when it has finished',
    );
  }
  if (before.phase !== 'terminating' || after.phase !== 'terminating') return undefined;
  if (before.graceSeconds === after.graceSeconds) return undefined;
  const inputs = { graceSeconds: after.graceSeconds, graceSecondsBefore: before.graceSeconds };
  return { ...decided('terminate', 'GraceShortened', 'it is to end sooner'), inputs };
}

function terminateDecision(event: WorkerEvent): Decision {
  switch (event.type) {
    case 'removed':
      return decided('terminate', 'SourceRemoved', 'no source names the pod any more');
    case 'orphaned':
      return decided('terminate', 'Orphan', 'the runtime has the pod and no source names it');
    case 'ended':
      return decided('terminate', 'ContainersEnded', 'nothing of the pod may run again');
    case 'killed':
      return event.decided === undefined
        ? decided('terminate', 'Killed', 'it was asked to end')
        : decided('terminate', event.decided.reason, event.decided.message);
    case 'configured':
      return event.pod.metadata.deletionTimestamp === undefined
        ? decided('terminate', 'TerminalPhase', `its phase is ${event.pod.status.phase ?? 'not known'}`)
        : decided('terminate', 'DeletionRequested', 'the pod was deleted in the API');
    case 'turn':
    case 'stopped':
    case 'cleaned':
      // None of them leads here.
      return decided('terminate', event.type, 'it ends');
    default:
      return event satisfies never;
  }
}

const failures: Readonly<Record<WorkerState['phase'], string>> = {
  waiting: 'Failed',
  syncing: 'FailedSync',
  terminating: 'FailedTerminate',
  terminated: 'FailedRelease',
  finished: 'Failed',
};

/** An operation on a pod failed and is tried again. */
export function retryDecision(phase: WorkerState['phase'], error: unknown, nextTryInMs: number): Decision {
  return { ...decided('retry', failures[phase], describeError(error)), nextTryInMs };
}

function decided(kind: Decision['kind'], reason: string, message: string): Decision {
  return { kind, by: 'pod-worker', reason, message };
}
