import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ObservedContainerState } from '../../model/observed-pod.ts';
import { computeTelling, type Telling } from './compute-told.ts';

const named = (reason: string) => ({ reason, message: `${reason}!` });

interface Case {
  readonly name: string;
  readonly before?: Telling;
  readonly error?: string;
  readonly atOnce?: true;
  readonly state?: ObservedContainerState;
  readonly expected?: Telling;
}

/** It is now 100 s. */
const cases: readonly Case[] = [
  { name: 'nothing is wrong' },
  { name: 'why a pull failed is told at once', error: 'ErrImagePull', expected: { told: named('ErrImagePull') } },
  {
    name: 'a start that failed too, though the container counts as ended',
    error: 'RunContainerError',
    state: 'exited',
    expected: { told: named('RunContainerError') },
  },
  {
    name: 'an end stays visible while the wait is new',
    error: 'CrashLoopBackOff',
    state: 'exited',
    expected: { untoldSince: 100_000 },
  },
  {
    name: 'the wait of one that was killed is told at once: its end tells nothing',
    error: 'CrashLoopBackOff',
    atOnce: true,
    state: 'exited',
    expected: { told: { ...named('CrashLoopBackOff'), atOnce: true } },
  },
  {
    name: 'also when somebody looks again',
    before: { untoldSince: 97_000 },
    error: 'CrashLoopBackOff',
    state: 'exited',
    expected: { untoldSince: 97_000 },
  },
  {
    name: 'after a while the wait is told',
    before: { untoldSince: 95_000 },
    error: 'CrashLoopBackOff',
    state: 'exited',
    expected: { told: named('CrashLoopBackOff') },
  },
  {
    name: 'the error of a pull stays visible',
    before: { told: named('ErrImagePull') },
    error: 'ImagePullBackOff',
    expected: { told: named('ErrImagePull'), untoldSince: 100_000 },
  },
  {
    name: 'and gives way to the wait after a while',
    before: { told: named('ErrImagePull'), untoldSince: 90_000 },
    error: 'ImagePullBackOff',
    expected: { told: named('ImagePullBackOff') },
  },
  {
    name: 'a longer wait replaces a shorter one',
    before: { told: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
    error: 'CrashLoopBackOff',
    state: 'exited',
    expected: { told: named('CrashLoopBackOff') },
  },
  {
    name: 'a wait of which nothing else is known, as after a restart of the agent',
    error: 'CrashLoopBackOff',
    state: 'created',
    expected: { told: named('CrashLoopBackOff') },
  },
  { name: 'one that started has nothing to explain', before: { told: named('ErrImagePull') }, state: 'running' },
];

describe('why a container could not start', () => {
  for (const { name, before, error, atOnce, state, expected } of cases) {
    test(name, () => {
      const telling = computeTelling({
        before: new Map(before === undefined ? [] : [['c', before]]),
        errors: new Map(error === undefined ? [] : [['c', { ...named(error), ...(atOnce && { atOnce }) }]]),
        observed: state === undefined ? [] : [{ name: 'c', state }],
        nowMs: 100_000,
      });
      assert.deepEqual(telling.get('c'), expected);
    });
  }
});
