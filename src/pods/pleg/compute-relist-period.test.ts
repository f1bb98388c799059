import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeRelistPeriod, type RelistOutcome, type RelistPace } from './compute-relist-period.ts';

const bounds = { minMs: 1_000, maxMs: 10_000 };
const pace = (periodMs: number, suspect = false): RelistPace => ({ periodMs, suspect });
const outcome = (words: string): RelistOutcome => ({
  covered: words.includes('covered'),
  hadEvents: words.includes('events'),
  missed: words.includes('missed'),
});

const cases: Readonly<Record<string, readonly [RelistPace, string, RelistPace]>> = {
  'a quiet relist with a stream doubles it': [pace(1_000), 'covered', pace(2_000)],
  'so does one that found only what the stream had reported': [pace(2_000), 'covered events', pace(4_000)],
  'up to the maximum': [pace(8_000), 'covered', pace(10_000)],
  'and no further': [pace(10_000), 'covered events', pace(10_000)],
  'without a stream it is the minimum': [pace(8_000), '', pace(1_000)],
  'a change that is found without a stream is no failure of it': [pace(1_000), 'missed', pace(1_000)],
  'a missed change makes it the minimum': [pace(10_000), 'covered missed', pace(1_000, true)],
  'also when the stream reported something else': [pace(10_000), 'covered events missed', pace(1_000, true)],
  'a suspect stream that is silent stays suspect': [pace(1_000, true), 'covered', pace(1_000, true)],
  'also over an outage': [pace(1_000, true), '', pace(1_000, true)],
  'one that sends events again is trusted again': [pace(1_000, true), 'covered events', pace(2_000)],
  'one that sends events and misses a change is not': [pace(1_000, true), 'covered events missed', pace(1_000, true)],
};

for (const [name, [before, words, after]] of Object.entries(cases)) {
  test(name, () => assert.deepEqual(computeRelistPeriod(before, outcome(words), bounds), after));
}
