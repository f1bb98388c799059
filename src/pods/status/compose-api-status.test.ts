import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod, PodCondition } from '../../gen/kubernetes/types.ts';
import { composeApiStatus, newestCopy, withoutNulls } from './compose-api-status.ts';

const condition = (type: string, status = 'True', more: Partial<PodCondition> = {}): PodCondition => ({
  type,
  status,
  ...more,
});

describe('composeApiStatus', () => {
  test('others keep their conditions, as they are now; ours come from us', () => {
    const api = { conditions: [condition('example.com/gate', 'False'), condition('Ready', 'False')] };
    const ours = { phase: 'Running', conditions: [condition('example.com/gate', 'True'), condition('Ready')] };
    assert.deepEqual(composeApiStatus(api, ours).conditions, [
      condition('example.com/gate', 'False'),
      condition('Ready'),
    ]);
  });

  test('a foreign disruption stays; our own is published with the end only', () => {
    const foreign = condition('DisruptionTarget', 'True', { reason: 'PreemptionByScheduler' });
    const own = condition('DisruptionTarget', 'True', { reason: 'TerminationByKubelet' });
    const types = (phase: string): readonly unknown[] =>
      (composeApiStatus({ conditions: [foreign] }, { phase, conditions: [own] }).conditions ?? []).map(
        ({ reason }) => reason,
      );
    assert.deepEqual(types('Running'), ['PreemptionByScheduler']);
    assert.deepEqual(types('Failed'), ['TerminationByKubelet']);
  });

  test('an end is never taken back', () => {
    const { phase, reason, message } = composeApiStatus(
      { phase: 'Failed', reason: 'Evicted', message: 'low on memory' },
      { phase: 'Running' },
    );
    assert.deepEqual({ phase, reason, message }, { phase: 'Failed', reason: 'Evicted', message: 'low on memory' });
  });

  test('a reason that we no longer give goes, fields of the scheduler stay', () => {
    const next = composeApiStatus(
      { phase: 'Pending', reason: 'Old', nominatedNodeName: 'n2', hostIP: '10.0.0.9' },
      { phase: 'Running' },
    );
    assert.deepEqual(next, { phase: 'Running', nominatedNodeName: 'n2' });
  });
});

test('conditions that the server has are taken away one by one, never as a whole list', () => {
  const { conditions } = composeApiStatus({ conditions: [condition('PodScheduled')] }, { phase: 'Failed' });
  assert.deepEqual(conditions, []);
});

test('withoutNulls takes nulls out at any depth and nothing else', () => {
  const value = { a: null, b: [{ c: null, d: 0 }], e: { f: '' } };
  assert.deepEqual(withoutNulls<unknown>(value), { b: [{ d: 0 }], e: { f: '' } });
});

describe('newestCopy', () => {
  const copy = (resourceVersion: string, uid = 'u'): Pod => ({ metadata: { uid, resourceVersion } });
  const watched = copy('10');
  const cases: readonly [string, Pod | undefined, number, 'watched' | 'answered'][] = [
    ['nothing was written', undefined, 0, 'watched'],
    ['the watch lags behind the answer', copy('11'), 100, 'answered'],
    ['the watch has caught up', copy('10'), 100, 'watched'],
    ['the watch is ahead', copy('9'), 100, 'watched'],
    ['the server was set back, and some time has passed', copy('11'), 10_001, 'watched'],
    ['the answer was about another pod', copy('11', 'other'), 100, 'watched'],
    ['versions that are no numbers', { metadata: { uid: 'u', resourceVersion: 'x' } }, 100, 'watched'],
  ];
  for (const [name, pod, ageMs, expected] of cases) {
    test(name, () => {
      const newest = newestCopy(watched, pod && { pod, atMs: 0 }, ageMs);
      assert.equal(newest === watched ? 'watched' : 'answered', expected);
    });
  }
});
