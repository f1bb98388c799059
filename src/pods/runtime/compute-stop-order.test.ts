import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aPod } from '../../testing/pods.ts';
import { computeStopGrace } from './compute-stop-grace.ts';
import { computeStopOrder } from './compute-stop-order.ts';

test('without sidecars no container waits', () => {
  assert.equal(computeStopOrder(aPod({ spec: { initContainers: [aContainer('init')] } }).spec).size, 0);
});

test('sidecars go after the regular containers, the last one first', () => {
  const sidecar = (name: string) => aContainer(name, { restartPolicy: 'Always' });
  const spec = {
    initContainers: [sidecar('one'), aContainer('init'), sidecar('two')],
    containers: [aContainer('a'), aContainer('b')],
  };
  assert.deepEqual(
    [...computeStopOrder(aPod({ spec }).spec)],
    [
      ['one', ['a', 'b', 'two']],
      ['two', ['a', 'b']],
    ],
  );
});

test('grace of a single container', () => {
  const probe = { terminationGracePeriodSeconds: 3 };
  const container = aContainer('main', { livenessProbe: probe, startupProbe: { terminationGracePeriodSeconds: 4 } });
  const pod = aPod({ spec: { terminationGracePeriodSeconds: 20 } });
  assert.equal(computeStopGrace(pod, container, 'liveness'), 3);
  assert.equal(computeStopGrace(pod, container, 'startup'), 4);
  assert.equal(computeStopGrace(pod, container, 'changed'), 20);
  assert.equal(computeStopGrace(pod, aContainer('main'), 'liveness'), 20);
  const deleting = aPod({ metadata: { deletionGracePeriodSeconds: 7 } });
  assert.equal(computeStopGrace(deleting, container, 'liveness'), 7);
});
