import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, anInstance, aPod, aSandbox, exited, observedPod } from '../../testing/pods.ts';
import { computeInitRequeue } from './compute-requeue.ts';

const pod = aPod({ spec: { initContainers: [aContainer('side', { restartPolicy: 'Always' }), aContainer('prep')] } });
const began = 100_000;

const recheck = (nowMs: number, ...containers: ReturnType<typeof anInstance>[]) =>
  computeInitRequeue(pod, observedPod([aSandbox('s0')], containers), nowMs);
const prep = anInstance('prep', { startedAt: began });

test('soon at first, later in proportion, at least once a second', () => {
  const waits = [0, 99, 100, 400, 2_000, 4_000, 4_001, 3_600_000].map((ranMs) => recheck(began + ranMs, prep));
  assert.deepEqual(waits, [25, 25, 25, 100, 500, 1_000, 1_000, 1_000]);
});

test('with a clock that was set back it comes soon, not never', () => {
  assert.equal(recheck(began - 60_000, prep), 25);
});

test('nothing while no plain init container runs', () => {
  assert.equal(recheck(began), undefined);
  assert.equal(recheck(began, anInstance('prep', exited(0))), undefined);
  assert.equal(recheck(began, anInstance('prep', { state: 'created' })), undefined);
  assert.equal(recheck(began, anInstance('side', { startedAt: began })), undefined, 'a sidecar does not end');
  assert.equal(recheck(began, anInstance('main', { startedAt: began })), undefined);
});
