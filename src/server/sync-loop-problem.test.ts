import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syncLoopProblem, type SyncLoopInput } from './sync-loop-problem.ts';

const minute = 60_000;
const nowMs = 100 * minute;
const hungLoop = (loop: string, carriesPods: boolean) => ({ loop, carriesPods, silentMs: 400_000, limitMs: 300_000 });

const cases: Readonly<Record<string, readonly [Partial<SyncLoopInput>, string | undefined]>> = {
  'a relist a moment ago': [{}, undefined],
  'a relist five minutes ago': [{ relistedAtMs: nowMs - 5 * minute }, undefined],
  'a relist longer ago': [{ relistedAtMs: nowMs - 6 * minute }, 'no round for 360 s'],
  'a relist within twice the sync frequency': [
    { relistedAtMs: nowMs - 6 * minute, syncFrequencyMs: 3 * minute },
    undefined,
  ],
  'a loop that carries pods hangs': [
    { hung: [hungLoop('housekeeping', true)] },
    'loop housekeeping has been in one step for 400 s, longer than 300 s',
  ],
  'a loop that hangs without carrying pods': [{ hung: [hungLoop('node-lease', false)] }, undefined],
  'no relist, because its loop hangs': [
    { relistedAtMs: nowMs - 7 * minute, hung: [hungLoop('pleg-relist', true), hungLoop('node-lease', false)] },
    'no round for 420 s; loop pleg-relist has been in one step for 400 s, longer than 300 s',
  ],
};

for (const [name, [given, expected]] of Object.entries(cases)) {
  test(`syncloop: ${name}`, () => {
    const input = { nowMs, relistedAtMs: nowMs, syncFrequencyMs: minute, hung: [], ...given };
    assert.equal(syncLoopProblem(input), expected);
  });
}
