import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, PodSpec } from '../gen/kubernetes/types.ts';
import { oomScoreAdjust } from './oom-score.ts';

const nodeMemory = 10n * 1024n ** 3n;
const asking = (memory: string): Container => ({ name: 'c', resources: { requests: { memory } } });

function score(spec: PodSpec, container: Container, source: 'api' | 'file' = 'api'): number {
  return oomScoreAdjust({ spec, status: {}, source }, container, nodeMemory);
}

test('the class decides at both ends', () => {
  const full = { cpu: '1', memory: '1Gi' };
  const guaranteed = { name: 'c', resources: { requests: full, limits: full } };
  assert.equal(score({ containers: [guaranteed] }, guaranteed), -997);
  assert.equal(score({ containers: [{ name: 'c' }] }, { name: 'c' }), 1000);
});

test('a burstable container dies the later the more it asked for, within bounds', () => {
  for (const [memory, expected] of [
    ['1Gi', 900],
    ['5Gi', 500],
    ['1Mi', 999],
    ['10Gi', 3],
  ] as const) {
    assert.equal(score({ containers: [asking(memory)] }, asking(memory)), expected, memory);
  }
});

test('a node-critical pod is spared whatever it asks for', () => {
  const spec = { containers: [{ name: 'c' }], priorityClassName: 'system-node-critical', priority: 2_000_001_000 };
  assert.equal(score(spec, { name: 'c' }), -997);
  assert.equal(score(spec, { name: 'c' }, 'file'), -997);
  assert.equal(score({ ...spec, priority: 0 }, { name: 'c' }), 1000);
});

test('a sidecar does not die before the smallest regular container', () => {
  const sidecar: Container = { name: 'side', restartPolicy: 'Always' };
  const spec = { initContainers: [sidecar], containers: [asking('2Gi'), { ...asking('1Gi'), name: 'd' }] };
  assert.equal(score(spec, sidecar), 900);
  const large: Container = { ...sidecar, resources: { requests: { memory: '3Gi' } } };
  assert.equal(score({ ...spec, initContainers: [large] }, large), 700);
});

test('what the pod asks for beyond its containers is shared', () => {
  const spec = { resources: { requests: { memory: '3Gi' } }, containers: [asking('1Gi'), { name: 'd' }] };
  assert.equal(score(spec, asking('1Gi')), 800);
  assert.equal(score(spec, { name: 'd' }), 900);
});
