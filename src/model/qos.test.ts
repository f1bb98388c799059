import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec, ResourceRequirements } from '../gen/kubernetes/types.ts';
import { goldenNames, goldenPod, loadGolden } from '../testing/golden.ts';
import { computeQos, isCriticalPod, isNodeCriticalPod, podQos } from './qos.ts';

const full = { cpu: '100m', memory: '64Mi' };
const pod = (...containers: readonly ResourceRequirements[]): PodSpec => ({
  containers: containers.map((resources, index) => ({ name: `c${index}`, resources })),
});

const cases: readonly (readonly [string, PodSpec, string])[] = [
  ['nothing asked', pod({}), 'BestEffort'],
  ['zero is nothing', pod({ requests: { cpu: '0' }, limits: { memory: '0' } }), 'BestEffort'],
  ['other resources do not count', pod({ limits: { 'ephemeral-storage': '1Gi' } }), 'BestEffort'],
  ['both equal', pod({ requests: full, limits: full }), 'Guaranteed'],
  ['written differently, yet equal', pod({ requests: { cpu: '0.1', memory: '65536Ki' }, limits: full }), 'Guaranteed'],
  ['limits only in one of two', pod({ requests: full, limits: full }, {}), 'Burstable'],
  ['requests lower', pod({ requests: { cpu: '50m', memory: '64Mi' }, limits: full }), 'Burstable'],
  ['no memory limit', pod({ requests: { cpu: '100m' }, limits: { cpu: '100m' } }), 'Burstable'],
  [
    'init container counts',
    { ...pod({ requests: full, limits: full }), initContainers: [{ name: 'i', resources: {} }] },
    'Burstable',
  ],
  ['pod level decides', { ...pod({}, {}), resources: { requests: full, limits: full } }, 'Guaranteed'],
  ['pod level, but empty', { ...pod({ requests: full, limits: full }), resources: {} }, 'BestEffort'],
  [
    'pod level, requests only',
    { ...pod({ requests: full, limits: full }), resources: { requests: full } },
    'Burstable',
  ],
];

for (const [title, spec, expected] of cases) {
  test(`qos: ${title}`, () => assert.equal(computeQos(spec), expected));
}

test('the class that the API server settled counts', () => {
  assert.equal(podQos({ spec: pod({}), status: { qosClass: 'Guaranteed' } }), 'Guaranteed');
  assert.equal(podQos({ spec: pod({}), status: { qosClass: 'nonsense' } }), 'BestEffort');
});

test('recorded pods are classed as the API server classed them', () => {
  for (const name of goldenNames()) {
    const record = loadGolden(name);
    const expected = record.statuses[0]?.qosClass ?? record.mirror?.status?.qosClass;
    assert.equal(computeQos(goldenPod(record).spec), expected, name);
  }
});

test('critical pods', () => {
  const spec = { containers: [], priority: 2_000_000_000 };
  assert.equal(isCriticalPod({ source: 'api', spec }), true);
  assert.equal(isCriticalPod({ source: 'api', spec: { ...spec, priority: 1_999_999_999 } }), false);
  assert.equal(isCriticalPod({ source: 'file', spec: { containers: [] } }), true);
  assert.equal(isNodeCriticalPod({ source: 'api', spec }), false);
  assert.equal(
    isNodeCriticalPod({ source: 'api', spec: { ...spec, priorityClassName: 'system-node-critical' } }),
    true,
  );
});
