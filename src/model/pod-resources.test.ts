import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '../gen/kubernetes/types.ts';
import { effectiveLimit, hasPodLevelResources, podLimits, podRequests, type ResourceTotals } from './pod-resources.ts';

const printed = (totals: ResourceTotals) =>
  Object.fromEntries([...totals].map(([name, amount]) => [name, amount.toString()]));

const spec: PodSpec = {
  initContainers: [
    { name: 'big', resources: { requests: { cpu: '3' }, limits: { memory: '1Gi' } } },
    { name: 'side', restartPolicy: 'Always', resources: { requests: { cpu: '100m', memory: '10Mi' } } },
  ],
  containers: [
    { name: 'a', resources: { requests: { cpu: '1', memory: '20Mi' }, limits: { memory: '2Gi' } } },
    { name: 'b', resources: { requests: { cpu: '500m' } } },
  ],
  overhead: { cpu: '250m', memory: '120Mi' },
};

test('requests: the regular containers with sidecars, or the greediest init container', () => {
  assert.deepEqual(printed(podRequests(spec, { overhead: false })), { cpu: '3', memory: '30Mi' });
  assert.deepEqual(printed(podRequests(spec, { overhead: true })), { cpu: '3250m', memory: '150Mi' });
});

test('limits: overhead widens a limit but makes none', () => {
  assert.deepEqual(printed(podLimits(spec, { overhead: false })), { memory: '2Gi' });
  assert.deepEqual(printed(podLimits(spec, { overhead: true })), { memory: '2168Mi' });
});

test('the word of the pod as a whole replaces the sum', () => {
  const whole: PodSpec = {
    ...spec,
    resources: { requests: { cpu: '200m', 'example.com/gpu': '1' }, limits: { cpu: '4' } },
  };
  assert.deepEqual(printed(podRequests(whole, { overhead: false })), { cpu: '200m', memory: '30Mi' });
  assert.deepEqual(printed(podLimits(whole, { overhead: false })), { memory: '2Gi', cpu: '4' });
  assert.equal(hasPodLevelResources(whole), true);
  assert.equal(hasPodLevelResources({ ...spec, resources: {} }), false);
});

test('a container without a limit is bound by that of the pod', () => {
  const whole: PodSpec = { ...spec, resources: { limits: { memory: '3Gi' } } };
  assert.equal(effectiveLimit(whole, { name: 'x' }, 'memory').toString(), '3Gi');
  assert.equal(
    effectiveLimit(whole, { name: 'x', resources: { limits: { memory: '1Gi' } } }, 'memory').toString(),
    '1Gi',
  );
  assert.equal(effectiveLimit(spec, { name: 'x' }, 'memory').isZero(), true);
});
