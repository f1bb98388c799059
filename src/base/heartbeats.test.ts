import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeHungLoop, hungAfterMs, findHungLoops, type LoopBeat } from './heartbeats.ts';

const minute = 60_000;
const now = 1_000 * minute;

const beat = (stage: LoopBeat['stage'], silentMs: number, extra: Partial<LoopBeat> = {}): LoopBeat => ({
  name: 'sample',
  stage,
  since: now - silentMs,
  lastBeat: now - silentMs,
  failures: 0,
  carriesPods: false,
  maxStepMs: 0,
  ...extra,
});

const cases: Readonly<Record<string, readonly [LoopBeat, maxStepMs: number, limitMs: number | undefined]>> = {
  'a round of five minutes may still come to its end': [beat('round', 5 * minute), 0, undefined],
  'a longer one hangs': [beat('round', 5 * minute + 1), 0, 5 * minute],
  'a call may take as long as its deadline says': [beat('round', 15 * minute), 15 * minute, undefined],
  'and clearly longer': [beat('round', 30 * minute), 15 * minute, undefined],
  'but not for ever': [beat('round', 30 * minute + 1), 15 * minute, 30 * minute],
  'a loop may have a longer deadline than the runtime': [
    beat('round', 19 * minute, { maxStepMs: 10 * minute }),
    2 * minute,
    undefined,
  ],
  'its own deadline counts': [beat('round', 21 * minute, { maxStepMs: 10 * minute }), 2 * minute, 20 * minute],
  'a long round of short steps is well': [beat('round', minute, { since: now - 600 * minute }), 0, undefined],
  'a wait on purpose takes as long as it takes': [beat('waiting', 900 * minute), 0, undefined],
  'a back-off ends by the clock': [beat('backOff', 900 * minute, { failures: 7 }), 0, undefined],
};

for (const [name, [given, maxStepMs, limitMs]] of Object.entries(cases)) {
  test(`heartbeats: ${name}`, () => {
    const expected =
      limitMs === undefined ? [] : [{ loop: 'sample', silentMs: now - given.lastBeat, limitMs, carriesPods: false }];
    assert.deepEqual(findHungLoops(now, [given], maxStepMs), expected);
  });
}

test('every loop is judged alone, and named', () => {
  const beats = [
    beat('round', 6 * minute, { name: 'pleg-relist', carriesPods: true }),
    beat('waiting', 6 * minute, { name: 'housekeeping', carriesPods: true }),
    beat('round', 7 * minute, { name: 'node-lease' }),
  ];
  const hung = findHungLoops(now, beats, 2 * minute);
  assert.deepEqual(
    hung.map(({ loop, carriesPods }) => [loop, carriesPods]),
    [
      ['pleg-relist', true],
      ['node-lease', false],
    ],
  );
  assert.deepEqual(hung.map(describeHungLoop), [
    'loop pleg-relist has been in one step for 360 s, longer than 300 s',
    'loop node-lease has been in one step for 420 s, longer than 300 s',
  ]);
});

test('the limit is twice the longest deadline, five minutes at least', () => {
  assert.deepEqual([0, 120_000, 150_000, 600_000].map(hungAfterMs), [300_000, 300_000, 300_000, 1_200_000]);
});
