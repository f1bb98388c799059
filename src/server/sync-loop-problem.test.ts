import assert from 'node:assert/strict';
import { test } from 'node:test';
import { syncLoopProblem } from './sync-loop-problem.ts';

const minute = 60_000;

for (const [what, idleMs, syncPeriodMs, problem] of [
  ['a loop that has just come round', 0, minute, undefined],
  ['five minutes are the least, however often it should come round', 5 * minute, 1_000, undefined],
  ['more than that is too long', 5 * minute + 1, minute, 'no round for 300 s'],
  ['a loop that comes round seldom may take two of its periods', 20 * minute, 10 * minute, undefined],
  ['and no more', 20 * minute + 600, 10 * minute, 'no round for 1201 s'],
] as const) {
  test(what, () => assert.equal(syncLoopProblem({ idleMs, syncPeriodMs }), problem));
}
