import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { aPod } from '../../testing/pods.ts';
import { reduceWorker, type WorkerEvent } from './state.ts';
import { retryDecision, workerDecision } from './worker-decision.ts';

const pod = aPod({ spec: { terminationGracePeriodSeconds: 30 } });
const deleted = aPod({ metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } });
const configured = { type: 'configured', pod, mustWait: false } as const;
const waiting = { ...configured, mustWait: true } as const;
const decided = { reason: 'Evicted', message: 'it takes too much' };

/** What the last of some events is recorded as. */
function lastOf(...events: readonly WorkerEvent[]): string | undefined {
  let last: ReturnType<typeof workerDecision>;
  let state: ReturnType<typeof reduceWorker>;
  for (const event of events) {
    const after = reduceWorker(state, event);
    last = after === undefined ? undefined : workerDecision(state, event, after);
    state = after;
  }
  const grace = last?.inputs?.['graceSeconds'];
  return last && `${last.kind} ${last.reason} ${typeof grace === 'number' ? grace : '-'}: ${last.message}`;
}

test('each change of a life is recorded with who or what caused it', () => {
  const cases: readonly (readonly [readonly WorkerEvent[], string | undefined])[] = [
    [[configured], undefined],
    [[configured, configured], undefined],
    [[waiting], 'wait FormerPodNotFinished -: an older pod of its full name has not finished'],
    [[waiting, { type: 'turn' }], 'start FormerPodFinished -: the older pod of its full name has finished'],
    [[waiting, { type: 'removed' }], 'terminate SourceRemoved 30: no source names the pod any more'],
    [[configured, { type: 'removed' }], 'terminate SourceRemoved 30: no source names the pod any more'],
    [[configured, { type: 'ended' }], 'terminate ContainersEnded 30: nothing of the pod may run again'],
    [[configured, { type: 'killed', decided, graceSeconds: 1 }], 'terminate Evicted 1: it takes too much'],
    [[configured, { type: 'killed' }], 'terminate Killed 30: it was asked to end'],
    [[{ ...configured, pod: deleted }], 'terminate DeletionRequested 30: the pod was deleted in the API'],
    [
      [{ ...configured, pod: { ...pod, status: { phase: 'Failed' } } }],
      'terminate TerminalPhase 30: its phase is Failed',
    ],
    [
      [{ type: 'orphaned', uid: podUid('u'), name: 'web', namespace: 'default' }],
      'terminate Orphan 1: the runtime has the pod and no source names it',
    ],
    [
      [configured, { type: 'removed' }, { type: 'killed', graceSeconds: 2 }],
      'terminate GraceShortened 2: it is to end sooner',
    ],
    [[configured, { type: 'killed' }, { type: 'killed', decided }], undefined],
    [
      [configured, { type: 'removed' }, { type: 'stopped' }],
      'finish ContainersStopped -: nothing of the pod runs any more',
    ],
    [
      [configured, { type: 'removed' }, { type: 'stopped' }, { type: 'cleaned' }],
      'finish Released -: volumes and cgroups were released',
    ],
    [
      [configured, { type: 'removed' }, configured],
      'wait FormerLifeNotOver -: a source names it again, and its new life begins when it has finished',
    ],
  ];
  for (const [events, expected] of cases) {
    assert.equal(lastOf(...events), expected, events.map(({ type }) => type).join(', '));
  }
});

test('a failed operation says which it was, why, and when it is tried again', () => {
  const error = new Error('cannot mount', { cause: new Error('no such device') });
  assert.deepEqual(retryDecision('syncing', error, 12_000), {
    kind: 'retry',
    by: 'pod-worker',
    reason: 'FailedSync',
    message: 'cannot mount: no such device',
    nextTryInMs: 12_000,
  });
  assert.equal(retryDecision('terminating', error, 1).reason, 'FailedTerminate');
  assert.equal(retryDecision('terminated', error, 1).reason, 'FailedRelease');
});
