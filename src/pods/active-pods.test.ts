import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { aPod } from '../testing/pods.ts';
import { ActivePods, computePodActivity } from './active-pods.ts';

test('what makes a pod active, and what does not', () => {
  const cases = [
    [{ isTerminated: false, isTerminating: false, hasTerminalPhase: false }, true, 'named by a source'],
    [{ isTerminated: false, isTerminating: false, hasTerminalPhase: true }, false, 'terminal phase'],
    [{ isTerminated: false, isTerminating: true, hasTerminalPhase: false }, true, 'terminating'],
    [{ isTerminated: false, isTerminating: true, hasTerminalPhase: true }, true, 'terminating'],
    [{ isTerminated: true, isTerminating: false, hasTerminalPhase: false }, false, 'terminated'],
    [{ isTerminated: true, isTerminating: false, hasTerminalPhase: true }, false, 'terminated'],
  ] as const;
  for (const [pod, isActive, reason] of cases) {
    assert.deepEqual(computePodActivity(pod), { isActive, reason }, JSON.stringify(pod));
  }
});

test('the phase counts as the API server has it and as the agent has it', () => {
  const [running, succeededThere, failedHere, ending] = [
    aPod({ uid: 'running' }),
    aPod({ uid: 'there', status: { phase: 'Succeeded' } }),
    aPod({ uid: 'here' }),
    aPod({ uid: 'ending', status: { phase: 'Failed' } }),
  ];
  const active = new ActivePods({
    desired: { all: () => [running, succeededThere, failedHere, ending] },
    lifecycles: { isTerminated: () => false, isTerminating: (uid) => uid === podUid('ending') },
    statuses: { get: (uid) => (uid === podUid('here') ? { phase: 'Failed' } : undefined) },
  });
  assert.deepEqual(
    active.activePods().map(({ uid }) => uid),
    ['running', 'ending'],
  );
});
