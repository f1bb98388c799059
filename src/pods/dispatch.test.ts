import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { PodUpdateOp } from '../model/pod-update.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aPod } from '../testing/pods.ts';
import { Dispatch, type DispatchMessage } from './dispatch.ts';

const web = aPod();
const db = aPod({ uid: 'uid-2', name: 'db', namespace: 'data' });

/** Not admitted, and so without a worker. */
const stranger = aPod({ uid: 'uid-3', name: 'stranger' });

/** Its old life is ending. */
const returning = aPod({ uid: 'uid-4', name: 'returning' });

function setUp() {
  const calls: string[] = [];
  const log = new MemoryLog();
  const dispatch = new Dispatch({
    log,
    desired: { apply: ({ op }) => void calls.push(`desired ${op}`) },
    workers: {
      configure: ({ uid }) => void calls.push(`configure ${uid}`),
      remove: (uid) => void calls.push(`remove ${uid}`),
      wake: (uid) => void calls.push(`wake ${uid}`),
      knows: (uid) => uid !== stranger.uid,
      isLeaving: (uid) => uid === returning.uid,
    },
    gate: { pass: ({ uid }) => uid !== stranger.uid && uid !== returning.uid },
    housekeeping: { wake: () => void calls.push('housekeeping') },
    onGone: (uid) => void calls.push(`gone ${uid}`),
  });
  const handle = (message: DispatchMessage): string[] => {
    dispatch.handle(message);
    return calls.splice(0);
  };
  const update = (op: PodUpdateOp, ...pods: DesiredPod[]): string[] =>
    handle({ type: 'configChanged', update: { op, source: 'file', pods } });
  return { log, handle, update };
}

test('what a source says goes to the desired pods first, then to each worker, then to housekeeping', () => {
  const { update } = setUp();
  const cases: readonly (readonly [PodUpdateOp, readonly string[]])[] = [
    ['add', ['configure uid-1', 'configure uid-2']],
    ['update', ['configure uid-1', 'configure uid-2']],
    ['delete', ['configure uid-1', 'configure uid-2']],
    ['remove', ['remove uid-1', 'remove uid-2']],
    ['reconcile', []],
    ['set', []],
  ];
  for (const [op, calls] of cases) {
    assert.deepEqual(update(op, web, db), [`desired ${op}`, ...calls, 'housekeeping'], op);
  }
});

test('a pod that comes back before it is gone passes the gate when its new life begins, not before', () => {
  const { update } = setUp();
  assert.deepEqual(update('add', returning), ['desired add', 'configure uid-4', 'housekeeping']);
});

test('a status that comes back matters to those whose readiness others have a say in', () => {
  const { update } = setUp();
  const spec = { readinessGates: [{ conditionType: 'example.com/gate' }] };
  const gated = aPod({ spec });
  assert.deepEqual(update('reconcile', gated, db), ['desired reconcile', 'configure uid-1', 'housekeeping']);
  const refused = aPod({ uid: stranger.uid, name: stranger.name, spec });
  assert.deepEqual(update('reconcile', refused), ['desired reconcile', 'housekeeping']);
});

test('the first word of an empty source reaches housekeeping, for it may settle what is nobody’s', () => {
  const { update, log } = setUp();
  assert.deepEqual(update('set'), ['desired set', 'housekeeping']);
  assert.deepEqual(log.entries, []);
});

test('each update is one line of log with its pods', () => {
  const { update, log } = setUp();
  update('add', web, db);
  assert.deepEqual(log.entries, [
    { severity: 'info', message: 'SyncLoop ADD', fields: { source: 'file', pods: ['default/web', 'data/db'] } },
  ]);
});

test('everything else only wakes', () => {
  const { handle } = setUp();
  const [a, b] = [podUid('a'), podUid('b')];
  assert.deepEqual(handle({ type: 'observedChanged', uid: a }), ['wake a', 'housekeeping']);
  assert.deepEqual(handle({ type: 'probeChanged', uid: a }), ['wake a']);
  assert.deepEqual(handle({ type: 'resourcesChanged', uids: [a, b] }), ['wake a', 'wake b']);
  assert.deepEqual(handle({ type: 'resourcesChanged', uids: [] }), []);
  assert.deepEqual(handle({ type: 'tick' }), ['housekeeping']);
});

test('a pod that is not admitted gets no worker, and is gone when its source drops it', () => {
  const { update } = setUp();
  assert.deepEqual(update('add', stranger), ['desired add', 'housekeeping']);
  assert.deepEqual(update('remove', stranger), ['desired remove', 'gone uid-3', 'housekeeping']);
});
