import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventOf, tryResult, resultDecision, withOwnLag } from './probe-outcome.ts';
import type { ProbeOutcome } from './ports.ts';

const unanswered: ProbeOutcome = { kind: 'failure', output: 'i/o timeout', unanswered: true };
const refusal: ProbeOutcome = { kind: 'failure', output: 'HTTP probe failed with statuscode: 500' };
const success: ProbeOutcome = { kind: 'success', output: 'ok' };
const error: ProbeOutcome = { kind: 'error', state: 'unknown', error: 'no such port' };

const lagged: Readonly<Record<string, readonly [ProbeOutcome, number, number, number, ProbeOutcome['kind']]>> = {
  'unanswered, and the agent was on time': [unanswered, 0, 0, 1_000, 'failure'],
  'unanswered, and the agent was hardly late': [unanswered, 40, 60, 1_000, 'failure'],
  'unanswered, and the try began late': [unanswered, 101, 0, 1_000, 'inconclusive'],
  'unanswered, and the agent lagged meanwhile': [unanswered, 0, 101, 1_000, 'inconclusive'],
  'unanswered, late and lagging by a little each': [unanswered, 60, 60, 1_000, 'inconclusive'],
  'a longer timeout bears more': [unanswered, 0, 900, 10_000, 'failure'],
  'a short timeout still bears something': [unanswered, 0, 50, 100, 'failure'],
  'an answer is an answer, however late we are': [refusal, 5_000, 5_000, 1_000, 'failure'],
  'a success is a success': [success, 5_000, 5_000, 1_000, 'success'],
  'an error stays one': [error, 5_000, 5_000, 1_000, 'error'],
};

for (const [name, [outcome, lateMs, lagMs, timeoutMs, kind]] of Object.entries(lagged)) {
  test(`own lag: ${name}`, () => assert.equal(withOwnLag(outcome, { lateMs, lagMs }, timeoutMs).kind, kind));
}

test('a warning counts as success, an error as nothing', () => {
  assert.equal(tryResult({ kind: 'warning', output: '' }), 'success');
  assert.equal(tryResult(success), 'success');
  assert.equal(tryResult(refusal), 'failure');
  assert.equal(tryResult(error), 'nothing');
  assert.equal(tryResult({ kind: 'inconclusive', reason: '' }), 'inconclusive');
});

test('the events of each outcome', () => {
  const where = 'spec.containers{web}';
  const said = (outcome: ProbeOutcome): readonly string[] | undefined => {
    const event = eventOf('Readiness', outcome, where);
    return event && [event.type, event.reason, event.message, event.fieldPath];
  };
  assert.deepEqual(said(refusal), [
    'Warning',
    'Unhealthy',
    'Readiness probe failed: HTTP probe failed with statuscode: 500',
    where,
  ]);
  assert.deepEqual(said({ kind: 'warning', output: 'moved' }), [
    'Warning',
    'ProbeWarning',
    'Readiness probe warning: moved',
    where,
  ]);
  assert.deepEqual(said(error), [
    'Warning',
    'Unhealthy',
    'Readiness probe errored and resulted in unknown state: no such port',
    where,
  ]);
  assert.equal(said(success), undefined);
  assert.equal(said({ kind: 'inconclusive', reason: 'late' }), undefined);
});

test('a change of what is in force is recorded with the last answer and how many tries it took', () => {
  const settings = { type: 'Liveness', successThreshold: 1, failureThreshold: 3 } as const;
  assert.deepEqual(resultDecision(settings, 'web', { kind: 'failure', output: 'HTTP 503' }), {
    kind: 'probe',
    by: 'probes',
    reason: 'LivenessProbeFailed',
    message: 'the last answer was: HTTP 503',
    containerName: 'web',
    inputs: { triesInARow: 3 },
  });
  const ready = resultDecision({ ...settings, type: 'Readiness' }, 'web', { kind: 'success', output: 'secret' });
  assert.deepEqual([ready.reason, ready.message], ['ReadinessProbeSucceeded', 'the Readiness probe succeeded']);
});
