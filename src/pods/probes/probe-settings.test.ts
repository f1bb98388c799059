import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Probe } from '../../gen/kubernetes/types.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { probesOf, type ProbeSettings } from './probe-settings.ts';

function settings(readinessProbe: Probe): ProbeSettings | undefined {
  const pod = aPod({ spec: { containers: [aContainer('main', { readinessProbe })] } });
  return probesOf(pod, false)[0]?.settings;
}

test('numbers that are missing or zero have the defaults of the API', () => {
  const defaults = {
    type: 'Readiness',
    initialDelayMs: 0,
    periodMs: 10_000,
    timeoutMs: 1_000,
    successThreshold: 1,
    failureThreshold: 3,
  };
  assert.deepEqual(settings({}), defaults);
  const zeros = {
    periodSeconds: 0,
    timeoutSeconds: 0,
    successThreshold: 0,
    failureThreshold: 0,
    initialDelaySeconds: 0,
  };
  assert.deepEqual(settings(zeros), defaults);
});

test('numbers below what the API allows are the smallest that it does: a period below zero would never end', () => {
  const below = {
    periodSeconds: -1,
    timeoutSeconds: -(2 ** 31),
    successThreshold: -1,
    failureThreshold: -5,
    initialDelaySeconds: -1,
  };
  assert.deepEqual(settings(below), {
    type: 'Readiness',
    initialDelayMs: 0,
    periodMs: 1_000,
    timeoutMs: 1_000,
    successThreshold: 1,
    failureThreshold: 1,
  });
});
