import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { PodUpdateOp } from '../../model/pod-update.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod } from '../../testing/pods.ts';
import type { SyncLoopMessage } from './sync-loop-inbox.ts';
import { SyncLoop } from './sync-loop.ts';

const web = aPod();
const db = aPod({ uid: 'uid-2', name: 'db', namespace: 'data' });

/** Not admitted, and so without a worker. */
const stranger = aPod({ uid: 'uid-3', name: 'stranger' });

/** Its old life is ending. */
const returning = aPod({ uid: 'uid-4', name: 'returning' });

function setUp() {
  const calls: string[] = [];
  const log = new MemoryLog();
  const syncLoop = new SyncLoop({
    log,
    desired: { apply: ({ op }) => void calls.push(`desired ${op}`) },
    workers: {
      updatePod: ({ uid }) => void calls.push(`update ${uid}`),
      remove: (uid) => void calls.push(`remove ${uid}`),
      wake: (uid) => void calls.push(`wake ${uid}`),
    },
    lifecycles: {
      knows: (uid) => uid !== stranger.uid,
      isRemovedFromSource: (uid) => uid === returning.uid,
    },
    gate: { admit: ({ uid }) => uid !== stranger.uid && uid !== returning.uid },
    cleanupDue: { mark: () => void calls.push('cleanup') },
    podRemoval: { podRemoved: (uid) => void calls.push(`removed ${uid}`) },
  });
  const handle = (message: SyncLoopMessage): string[] => {
    syncLoop.handle(message);
    return calls.splice(0);
  };
  const update = (op: PodUpdateOp, ...pods: DesiredPod[]): string[] =>
    handle({ type: 'configChanged', update: { op, source: 'file', pods } });
  return { log, handle, update };
}

test('an update goes to the desired pods first, then to each worker, then to housekeeping', () => {
  const { update } = setUp();
  const cases: readonly (readonly [PodUpdateOp, readonly string[]])[] = [
    ['add', ['update uid-1', 'update uid-2']],
    ['update', ['update uid-1', 'update uid-2']],
    ['delete', ['update uid-1', 'update uid-2']],
    ['remove', ['remove uid-1', 'remove uid-2']],
    ['reconcile', []],
    ['set', []],
  ];
  for (const [op, calls] of cases) {
    assert.deepEqual(update(op, web, db), [`desired ${op}`, ...calls, 'cleanup'], op);
  }
});

test('a pod that comes back before its end is admitted when its new life begins, not before', () => {
  const { update } = setUp();
  assert.deepEqual(update('add', returning), ['desired add', 'update uid-4', 'cleanup']);
});

test('a reconcile update syncs pods with readiness gates only', () => {
  const { update } = setUp();
  const spec = { readinessGates: [{ conditionType: 'example.com/gate' }] };
  const gated = aPod({ spec });
  assert.deepEqual(update('reconcile', gated, db), ['desired reconcile', 'update uid-1', 'cleanup']);
  const refused = aPod({ uid: stranger.uid, name: stranger.name, spec });
  assert.deepEqual(update('reconcile', refused), ['desired reconcile', 'cleanup']);
});

test('the first set of an empty source marks cleanup as due, because sources may be ready now', () => {
  const { update, log } = setUp();
  assert.deepEqual(update('set'), ['desired set', 'cleanup']);
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
  assert.deepEqual(handle({ type: 'observedChanged', uid: a }), ['wake a', 'cleanup']);
  assert.deepEqual(handle({ type: 'probeChanged', uid: a }), ['wake a']);
  assert.deepEqual(handle({ type: 'resourcesChanged', uids: [a, b] }), ['wake a', 'wake b']);
  assert.deepEqual(handle({ type: 'resourcesChanged', uids: [] }), []);
});

test('a pod that is not admitted gets no worker, and is forgotten when its source removes it', () => {
  const { update } = setUp();
  assert.deepEqual(update('add', stranger), ['desired add', 'cleanup']);
  assert.deepEqual(update('remove', stranger), ['desired remove', 'removed uid-3', 'cleanup']);
});
