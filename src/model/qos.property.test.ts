import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeQos } from './qos.ts';

const amount = fc.constantFrom('0', '1m', '100m', '1', '2');
const list = fc.record({ cpu: amount, memory: fc.constantFrom('0', '1Mi', '1Gi') }, { requiredKeys: [] });
const resources = fc.record({ requests: list, limits: list }, { requiredKeys: [] });
const container = resources.map((entry) => ({ name: 'c', resources: entry }));
const spec = fc.record({
  containers: fc.array(container, { minLength: 1, maxLength: 3 }),
  initContainers: fc.array(container, { maxLength: 2 }),
});

test('a guaranteed pod stays guaranteed under more of its kind, and loses it to anything less', () => {
  const full = { cpu: '1', memory: '1Gi' };
  const guaranteed = { name: 'g', resources: { requests: full, limits: full } };
  fc.assert(
    fc.property(spec, (pod) => {
      const more = computeQos({ ...pod, containers: [...pod.containers, guaranteed] });
      assert.equal(more === 'Guaranteed', computeQos(pod) === 'Guaranteed');
      const less = computeQos({ ...pod, containers: [...pod.containers, { name: 'b' }] });
      assert.equal(less, computeQos(pod) === 'BestEffort' ? 'BestEffort' : 'Burstable');
    }),
  );
});

test('the order of containers does not matter', () => {
  fc.assert(
    fc.property(spec, (pod) => {
      assert.equal(computeQos({ ...pod, containers: pod.containers.toReversed() }), computeQos(pod));
    }),
  );
});
