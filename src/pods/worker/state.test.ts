import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { continuesFormerLife, reduceWorker, type WorkerEvent, type WorkerState } from './state.ts';

const pod = aPod();
const configured: WorkerEvent = { type: 'configured', pod, mustWait: false };

function after(...events: readonly WorkerEvent[]): WorkerState | undefined {
  return events.reduce<WorkerState | undefined>((state, event) => reduceWorker(state, event), undefined);
}

describe('a pod that a source names', () => {
  test('syncs, is removed, stops and is cleaned up', () => {
    assert.equal(after(configured)?.phase, 'syncing');
    const removed = after(configured, { type: 'removed' });
    assert.deepEqual(removed, {
      phase: 'terminating',
      target: { kind: 'desired', pod },
      graceSeconds: 30,
      removedFromSource: true,
    });
    assert.equal(reduceWorker(removed, { type: 'stopped' })?.phase, 'terminated');
    assert.equal(after(configured, { type: 'removed' }, { type: 'stopped' }, { type: 'cleaned' })?.phase, 'finished');
  });

  test('ends by itself and stays known while its source names it', () => {
    const state = after(configured, { type: 'ended' }, { type: 'stopped' }, { type: 'cleaned' });
    assert.ok(state?.phase === 'finished' && !state.removedFromSource);
  });

  test('is not started when it was deleted or has a terminal phase', () => {
    const deleted = aPod({
      source: 'api',
      metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 },
    });
    const state = after({ type: 'configured', pod: deleted, mustWait: false });
    assert.ok(state?.phase === 'terminating' && state.graceSeconds === 5);
    for (const phase of ['Succeeded', 'Failed']) {
      const over = aPod({ source: 'api', status: { phase } });
      assert.equal(after({ type: 'configured', pod: over, mustWait: true })?.phase, 'terminating');
    }
  });

  test('takes the latest spec', () => {
    const changed = aPod({ spec: { terminationGracePeriodSeconds: 3 } });
    const state = after(configured, { type: 'configured', pod: changed, mustWait: false });
    assert.ok(state?.phase === 'syncing' && state.pod === changed);
  });
});

describe('coming back under the same uid', () => {
  const ends: readonly WorkerEvent[] = [{ type: 'stopped' }, { type: 'cleaned' }];
  const backWith = (spec: Partial<PodSpec>): WorkerState | undefined =>
    after(configured, { type: 'removed' }, { type: 'configured', pod: aPod({ spec }), mustWait: false }, ...ends);

  test('goes on with what is there where every container starts again after any end', () => {
    assert.equal(continuesFormerLife(backWith({})), true);
    assert.equal(continuesFormerLife(backWith({ restartPolicy: 'Always' })), true);
    for (const restartPolicy of ['OnFailure', 'Never'])
      assert.equal(continuesFormerLife(backWith({ restartPolicy })), false);
    const once = { ...aContainer('once'), restartPolicy: 'Never' };
    assert.equal(continuesFormerLife(backWith({ containers: [aContainer('main'), once] })), false);
  });

  test('not before the end of the former life, and not for one that was removed', () => {
    const back: WorkerEvent = { type: 'configured', pod, mustWait: false };
    assert.equal(continuesFormerLife(after(configured, { type: 'removed' }, back)), false);
    assert.equal(continuesFormerLife(after(configured, { type: 'removed' }, ...ends)), false);
    assert.equal(
      continuesFormerLife(after(configured, { type: 'removed' }, back, { type: 'removed' }, ...ends)),
      false,
    );
    assert.equal(continuesFormerLife(undefined), false);
  });
});

describe('killing', () => {
  test('shortens the grace and never lengthens it', () => {
    const grace = (...events: WorkerEvent[]): number => {
      const state = after(configured, ...events);
      assert.ok(state?.phase === 'terminating');
      return state.graceSeconds;
    };
    assert.equal(grace({ type: 'killed', graceSeconds: 10 }), 10);
    assert.equal(grace({ type: 'killed', graceSeconds: 10 }, { type: 'killed', graceSeconds: 60 }), 10);
    assert.equal(grace({ type: 'killed', graceSeconds: 10 }, { type: 'killed', graceSeconds: 0 }), 1);
    assert.equal(grace({ type: 'removed' }, { type: 'killed', graceSeconds: 4 }), 4);
  });

  test('keeps the first reason', () => {
    const first = { reason: 'Evicted', message: 'disk' };
    const state = after(
      configured,
      { type: 'killed', decided: first },
      { type: 'killed', decided: { reason: 'Other', message: '' } },
    );
    assert.ok(state?.phase === 'terminating');
    assert.deepEqual(state.decided, first);
  });

  test('comes too late for a pod that has stopped', () => {
    const stopped = after(configured, { type: 'removed' }, { type: 'stopped' });
    assert.equal(reduceWorker(stopped, { type: 'killed', graceSeconds: 1 }), stopped);
  });
});

describe('coming back under the same uid', () => {
  test('waits for the old life to finish', () => {
    const back = aPod();
    const state = after(configured, { type: 'removed' }, { type: 'configured', pod: back, mustWait: false });
    assert.ok(state?.phase === 'terminating' && state.next === back);
    const finished = after(
      configured,
      { type: 'removed' },
      { type: 'configured', pod: back, mustWait: false },
      { type: 'stopped' },
      { type: 'cleaned' },
    );
    assert.ok(finished?.phase === 'finished' && finished.next === back);
  });

  test('is taken back by another removal', () => {
    const state = after(configured, { type: 'removed' }, configured, { type: 'removed' });
    assert.ok(state?.phase === 'terminating' && state.next === undefined && state.removedFromSource);
  });
});

describe('a static pod behind another of its full name', () => {
  const waiting: WorkerEvent = { type: 'configured', pod, mustWait: true };
  test('waits for its turn', () => {
    assert.equal(after(waiting)?.phase, 'waiting');
    assert.equal(after(waiting, configured)?.phase, 'waiting');
    assert.equal(after(waiting, { type: 'turn' })?.phase, 'syncing');
  });
  test('is terminated when its source removes it: containers of a former life may still run', () => {
    const state = after(waiting, { type: 'removed' });
    assert.ok(state?.phase === 'terminating' && state.removedFromSource);
    assert.equal(after(waiting, { type: 'killed' })?.phase, 'terminating', 'its worker publishes why it ended');
  });
});

test('an orphan is stopped with the shortest grace', () => {
  const state = after({ type: 'orphaned', uid: podUid('u'), name: 'n', namespace: 'ns' });
  assert.ok(state?.phase === 'terminating' && state.graceSeconds === 1 && state.removedFromSource);
  assert.equal(after({ type: 'removed' }), undefined);
});
