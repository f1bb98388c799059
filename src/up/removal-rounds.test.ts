import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { removalRounds } from './removal-rounds.ts';

/** A machine on which things go away by being tried this often, each try taking its time. */
function machine(tries: Readonly<Record<string, number>>, tryMs = 0) {
  const clock = new FakeClock();
  const left = new Map(Object.entries(tries));
  const rounds = removalRounds({
    clock,
    observe: async () => [...left.keys()],
    describe: (name) => `link ${name}`,
    async carryOut(plan) {
      const faults: string[] = [];
      for (const name of plan) {
        await clock.sleep(tryMs);
        const count = (left.get(name) ?? 0) - 1;
        left.set(name, count);
        if (count <= 0) left.delete(name);
        // As programs do whose device went away with its other end.
        faults.push(`${name}: cannot be found`);
      }
      return faults;
    },
  });
  return { clock, left, rounds };
}

/** Settles the promise on virtual time. */
async function settled<T>(clock: FakeClock, work: Promise<T>): Promise<T | string> {
  const outcomes: (T | string)[] = [];
  work.then(
    (value) => outcomes.push(value),
    (error: unknown) => outcomes.push(String(error)),
  );
  for (let second = 0; second < 1_000 && outcomes.length === 0; second++) await clock.advance(1_000);
  return outcomes[0] ?? 'never';
}

test('nothing to remove', async () => {
  const { clock, rounds } = machine({});
  assert.equal(await settled(clock, rounds), false);
});

test('a machine so slow that one round takes longer than the patience gets there, whatever the programs said', async () => {
  const { clock, left, rounds } = machine({ a: 1, b: 1, c: 1, d: 2 }, 20_000);
  assert.equal(await settled(clock, rounds), true);
  assert.equal(left.size, 0);
});

test('an unchanged plan fails after half a minute, with its fault', async () => {
  const { clock, rounds } = machine({ stuck: Number.POSITIVE_INFINITY });
  assert.match(String(await settled(clock, rounds)), /could not remove stuck: cannot be found/);
  assert.ok(clock.monotonic() <= 32_000, String(clock.monotonic()));
});

test('a program that keeps making new things does not keep it running for ever', async () => {
  const clock = new FakeClock();
  let made = 0;
  const rounds = removalRounds({
    clock,
    observe: async () => [`thing-${made++}`],
    describe: (name) => name,
    carryOut: async () => ['busy'],
  });
  assert.match(String(await settled(clock, rounds)), /could not remove busy/);
});
