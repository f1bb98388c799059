import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../base/errors.ts';
import type { UsageSnapshot } from '../model/usage.ts';
import { scrapedUsage } from './scraped-usage.ts';

/** What becomes of an answer, and what is said about it. */
async function outcome(
  answer: () => Promise<UsageSnapshot>,
  signal = new AbortController().signal,
): Promise<{ readonly became: unknown; readonly said: readonly unknown[] }> {
  const said: unknown[] = [];
  const log = { error: (error: unknown) => void said.push(error) };
  const became = await scrapedUsage({ stats: { snapshot: answer }, log }, 'core', signal).catch(
    (error: unknown) => error,
  );
  return { became, said };
}

const fails = (error: unknown) => async (): Promise<never> => {
  throw error;
};

test('usage is reported as it is', async () => {
  const usage: UsageSnapshot = { at: 1, pressure: false, cgroups: [] };
  assert.deepEqual(await outcome(async () => usage), { became: usage, said: [] });
});

test('what cannot be had is said, and the page goes on without', async () => {
  const error = new Error('no cgroups');
  assert.deepEqual(await outcome(fails(error)), { became: undefined, said: [error] });
});

test('an agent that waits for its runtime has no usage yet', async () => {
  const error = new TubeletError('unavailable', 'the agent waits for the container runtime');
  assert.deepEqual(await outcome(fails(error)), { became: undefined, said: [error] });
});

test('an aborted request, and an agent that ends, get no page, and no fault is logged', async () => {
  const reason = new Error('gone');
  const given = AbortSignal.abort(reason);
  assert.deepEqual(await outcome(fails(new Error('whatever')), given), { became: reason, said: [] });
  const ending = new TubeletError('cancelled', 'the agent ends');
  assert.deepEqual(await outcome(fails(ending)), { became: ending, said: [] });
});
