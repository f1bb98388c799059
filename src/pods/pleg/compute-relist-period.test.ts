import assert from 'node:assert/strict';
import { test } from 'node:test';
import { computeRelistPeriod, type RelistOutcome, type RelistPace } from './compute-relist-period.ts';

const bounds = { shortestMs: 1_000, longestMs: 10_000 };
const pace = (periodMs: number, doubted = false): RelistPace => ({ periodMs, doubted });
const outcome = (words: string): RelistOutcome => ({
  covered: words.includes('covered'),
  told: words.includes('told'),
  missed: words.includes('missed'),
});

const cases: Readonly<Record<string, readonly [RelistPace, string, RelistPace]>> = {
  'a quiet relist with a stream doubles it': [pace(1_000), 'covered', pace(2_000)],
  'so does one that found only what the stream had told': [pace(2_000), 'covered told', pace(4_000)],
  'up to the longest': [pace(8_000), 'covered', pace(10_000)],
  'and no further': [pace(10_000), 'covered told', pace(10_000)],
  'without a stream it is the shortest': [pace(8_000), '', pace(1_000)],
  'what is found without a stream is nobody’s fault': [pace(1_000), 'missed', pace(1_000)],
  'a missed change makes it the shortest': [pace(10_000), 'covered missed', pace(1_000, true)],
  'also when the stream told something else': [pace(10_000), 'covered told missed', pace(1_000, true)],
  'a doubted stream that is silent stays doubted': [pace(1_000, true), 'covered', pace(1_000, true)],
  'also over an outage': [pace(1_000, true), '', pace(1_000, true)],
  'one that speaks again is trusted again': [pace(1_000, true), 'covered told', pace(2_000)],
  'one that speaks and misses is not': [pace(1_000, true), 'covered told missed', pace(1_000, true)],
};

for (const [name, [before, words, after]] of Object.entries(cases)) {
  test(name, () => assert.deepEqual(computeRelistPeriod(before, outcome(words), bounds), after));
}
