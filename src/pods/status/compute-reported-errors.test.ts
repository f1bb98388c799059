import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ObservedContainerState } from '../../model/observed-pod.ts';
import { computeReportedErrors, type ReportedStartError } from './compute-reported-errors.ts';

const named = (reason: string) => ({ reason, message: `${reason}!` });

interface Case {
  readonly name: string;
  readonly before?: ReportedStartError;
  readonly error?: string;
  readonly atOnce?: true;
  readonly state?: ObservedContainerState;
  readonly expected?: ReportedStartError;
}

/** It is now 100 s. */
const cases: readonly Case[] = [
  { name: 'nothing is wrong' },
  {
    name: 'why a pull failed is reported at once',
    error: 'ErrImagePull',
    expected: { reported: named('ErrImagePull') },
  },
  {
    name: 'a start that failed too, though the container counts as ended',
    error: 'RunContainerError',
    state: 'exited',
    expected: { reported: named('RunContainerError') },
  },
  {
    name: 'an end stays visible while the wait is new',
    error: 'CrashLoopBackOff',
    state: 'exited',
    expected: { pendingSince: 100_000 },
  },
  {
    name: 'the back-off of one that was killed is reported at once: its end is no news',
    error: 'CrashLoopBackOff',
    atOnce: true,
    state: 'exited',
    expected: { reported: { ...named('CrashLoopBackOff'), atOnce: true } },
  },
  {
    name: 'also at another sync soon after',
    before: { pendingSince: 97_000 },
    error: 'CrashLoopBackOff',
    state: 'exited',
    expected: { pendingSince: 97_000 },
  },
  {
    name: 'after a while the back-off is reported',
    before: { pendingSince: 95_000 },
    error: 'CrashLoopBackOff',
    state: 'exited',
    expected: { reported: named('CrashLoopBackOff') },
  },
  {
    name: 'the error of a pull stays visible',
    before: { reported: named('ErrImagePull') },
    error: 'ImagePullBackOff',
    expected: { reported: named('ErrImagePull'), pendingSince: 100_000 },
  },
  {
    name: 'and gives way to the wait after a while',
    before: { reported: named('ErrImagePull'), pendingSince: 90_000 },
    error: 'ImagePullBackOff',
    expected: { reported: named('ImagePullBackOff') },
  },
  {
    name: 'a longer wait replaces a shorter one',
    before: { reported: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
    error: 'CrashLoopBackOff',
    state: 'exited',
    expected: { reported: named('CrashLoopBackOff') },
  },
  {
    name: 'a wait of which nothing else is known, as after a restart of the agent',
    error: 'CrashLoopBackOff',
    state: 'created',
    expected: { reported: named('CrashLoopBackOff') },
  },
  { name: 'one that started has nothing to explain', before: { reported: named('ErrImagePull') }, state: 'running' },
];

describe('why a container could not start', () => {
  for (const { name, before, error, atOnce, state, expected } of cases) {
    test(name, () => {
      const after = computeReportedErrors({
        before: new Map(before === undefined ? [] : [['c', before]]),
        errors: new Map(error === undefined ? [] : [['c', { ...named(error), ...(atOnce && { atOnce }) }]]),
        observed: state === undefined ? [] : [{ name: 'c', state }],
        nowMs: 100_000,
      });
      assert.deepEqual(after.get('c'), expected);
    });
  }
});
