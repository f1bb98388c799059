import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resizeConditions } from './resize-conditions.ts';

const refusal = { reason: 'Infeasible', message: 'no', generation: 3 };
const nowMs = Date.UTC(2026, 0, 1);
const now = '2026-01-01T00:00:00Z';
const expected = {
  type: 'PodResizePending',
  status: 'True',
  reason: 'Infeasible',
  message: 'no',
  observedGeneration: 3,
};

test('a resize that is refused stays pending', () => {
  const conditions = resizeConditions({ refusal, phase: 'Running', previous: {}, nowMs });
  assert.deepEqual(conditions, [{ ...expected, lastProbeTime: now, lastTransitionTime: now }]);
});

test('its times are those of the first condition with that reason', () => {
  const since = '2025-12-31T00:00:00Z';
  const before = { ...expected, observedGeneration: 2, lastProbeTime: since, lastTransitionTime: since };
  const times = (reason: string) =>
    resizeConditions({ refusal, phase: 'Running', previous: { conditions: [{ ...before, reason }] }, nowMs }).map(
      (condition) => [condition.lastTransitionTime, condition.observedGeneration],
    );
  assert.deepEqual(times('Infeasible'), [[since, 3]]);
  assert.deepEqual(times('Deferred'), [[now, 3]]);
});

test('none for a pod without a resize, or in a terminal phase', () => {
  assert.deepEqual(resizeConditions({ refusal: undefined, phase: 'Running', previous: {}, nowMs }), []);
  for (const phase of ['Failed', 'Succeeded']) {
    assert.deepEqual(resizeConditions({ refusal, phase, previous: {}, nowMs }), []);
  }
});
