import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '../../model/decisions.ts';
import { aContainer, anInstance, exited } from '../../testing/pods.ts';
import { killOf, startOf } from './pod-actions.ts';
import {
  createSandboxDecision,
  killDecision,
  killPodDecision,
  refusedDecision,
  startedDecision,
} from './runtime-decisions.ts';

const web = aContainer('web');
const ended = anInstance('web', { ...exited(1), attempt: 3, reason: 'Error', finishedAt: 1_000 });
const refusal = (reason: string) => ({ reason, message: `${reason} it is` });
const inShort = ({ kind, reason, message }: Decision): string => `${kind} ${reason}: ${message}`;

test('what is decided is recorded with the reason it was decided for', () => {
  const none = { kill: [], start: [] };
  const cases: readonly (readonly [Decision, string])[] = [
    [killPodDecision(none, { reason: 'init container a failed' }), 'giveUp NothingToStart: init container a failed'],
    [
      killPodDecision({ ...none, createSandbox: { attempt: 1, reason: 'r' } }, { reason: 'the sandbox is not ready' }),
      'kill SandboxChanged: the sandbox is not ready',
    ],
    [
      createSandboxDecision({ attempt: 0, reason: 'there is no sandbox' }),
      'createSandbox NoSandbox: there is no sandbox',
    ],
    [
      createSandboxDecision({ attempt: 2, reason: 'the sandbox is not ready' }),
      'createSandbox SandboxUnusable: the sandbox is not ready',
    ],
    [killDecision(killOf(ended, 'why', 'liveness'), 30), 'kill LivenessProbeFailed: why'],
    [killDecision(killOf(ended, 'why', 'startup'), 30), 'kill StartupProbeFailed: why'],
    [killDecision(killOf(ended, 'why', 'changed'), 30), 'kill DefinitionChanged: why'],
    [killDecision(killOf(ended, 'why', 'lost'), 30), 'kill StateUnknown: why'],
    [killDecision(killOf(ended, 'why', 'unwanted'), 30), 'kill Unwanted: why'],
    [startedDecision(startOf(web, 'regular', undefined, 'it is not there')), 'start Started: it is not there'],
    [
      startedDecision(startOf(web, 'regular', { ...ended, state: 'created' }, 'it was made but never started')),
      'start Started: it was made but never started',
    ],
    [startedDecision(startOf(web, 'regular', ended, 'it ended')), 'restart Restarted: it ended'],
    [
      refusedDecision(startOf(web, 'regular', ended, 'it ended'), refusal('CrashLoopBackOff'), 1),
      'backOff CrashLoopBackOff: CrashLoopBackOff it is',
    ],
    [
      refusedDecision(startOf(web, 'regular', undefined, 'r'), refusal('ImagePullBackOff'), 1),
      'backOff ImagePullBackOff: ImagePullBackOff it is',
    ],
    [
      refusedDecision(startOf(web, 'regular', undefined, 'r'), refusal('ErrImagePull'), 1),
      'refuse ErrImagePull: ErrImagePull it is',
    ],
  ];
  for (const [decision, expected] of cases) assert.equal(inShort(decision), expected);
});

test('a restart, and the wait before it, record how the instance before ended', () => {
  const start = startOf(web, 'regular', ended, 'it ended');
  const previous = {
    containerID: ended.id,
    restartCount: 3,
    state: 'exited',
    exitCode: 1,
    reason: 'Error',
    finishedAt: '1970-01-01T00:00:01.000Z',
  };
  assert.deepEqual(startedDecision(start).inputs, { previous });
  const refused = refusedDecision(start, refusal('CrashLoopBackOff'), 20_000);
  assert.deepEqual([refused.inputs, refused.nextTryInMs, refused.containerName], [{ previous }, 20_000, 'web']);
});

test('arguments of a hook are not recorded', () => {
  const container = { ...web, lifecycle: { postStart: { exec: { command: ['login', '--token', 'hunter2'] } } } };
  const message = 'Exec lifecycle hook (login --token hunter2) failed';
  const { message: recorded } = refusedDecision(
    startOf(container, 'regular', undefined, 'r'),
    { reason: 'PostStartHookError', message },
    1,
  );
  assert.equal(recorded, 'Exec lifecycle hook (login …) failed');
});
