import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadGolden } from '../../testing/golden.ts';
import { aPod } from '../../testing/pods.ts';
import { activeDeadline, deadlineDecision } from './active-deadlines.ts';

const pod = aPod({ spec: { activeDeadlineSeconds: 5 } });

test('measured from the start time', () => {
  assert.deepEqual(activeDeadline(pod, 1_000, 1_000), { exceeded: false, inMs: 5_000 });
  assert.deepEqual(activeDeadline(pod, 1_000, 5_999), { exceeded: false, inMs: 1 });
  assert.deepEqual(activeDeadline(pod, 1_000, 6_000), { exceeded: true });
  assert.deepEqual(activeDeadline(pod, 1_000, 600_000), { exceeded: true });
});

test('nothing to exceed without a deadline or a start', () => {
  assert.deepEqual(activeDeadline(aPod(), 0, 1e12), { exceeded: false });
  assert.deepEqual(activeDeadline(pod, undefined, 1e12), { exceeded: false });
});

test('reason and message as recorded', () => {
  const record = loadGolden('active-deadline');
  const { reason, message } = record.statuses.at(-1) ?? {};
  assert.deepEqual({ reason, message }, deadlineDecision);
});
