import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { KeyedWork } from './keyed-work.ts';

function setUp(work: (key: string) => Promise<number | void>, parallel = 2) {
  const clock = new FakeClock();
  const errors: string[] = [];
  const queue = new KeyedWork<string>({
    name: 'test',
    clock,
    random: seededRandom(1),
    parallel,
    work,
    onError: (key, error) => void errors.push(`${key}: ${String(error)}`),
    backoff: { initialMs: 1_000, maxMs: 4_000 },
  });
  return { clock, errors, queue };
}

/** A gate that lets one through for each `open`. */
class Gate {
  readonly #waiting: (() => void)[] = [];
  pass(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }
  open(): void {
    this.#waiting.shift()?.();
  }
}

describe('KeyedWork', () => {
  test('many wakes are one round; a wake during a round is one more', async () => {
    const gate = new Gate();
    const rounds: string[] = [];
    const { clock, queue } = setUp(async (key) => {
      rounds.push(key);
      await gate.pass();
    });
    queue.wake('a');
    await clock.settle();
    assert.deepEqual(rounds, [], 'nothing before the start');
    await queue.start();
    queue.wake('a');
    await clock.settle();
    assert.deepEqual(rounds, ['a']);
    queue.wake('a');
    queue.wake('a');
    await clock.settle();
    assert.deepEqual(rounds, ['a'], 'one at a time');
    gate.open();
    await clock.settle();
    assert.deepEqual(rounds, ['a', 'a']);
    gate.open();
    await clock.settle();
    assert.equal(queue.idle(), true);
    assert.deepEqual(rounds, ['a', 'a']);
  });

  test('no more keys at a time than allowed, in the order they came', async () => {
    const gate = new Gate();
    const rounds: string[] = [];
    const { clock, queue } = setUp(async (key) => {
      rounds.push(key);
      await gate.pass();
    });
    await queue.start();
    for (const key of ['a', 'b', 'c', 'd']) queue.wake(key);
    await clock.settle();
    assert.deepEqual(rounds, ['a', 'b']);
    gate.open();
    await clock.settle();
    assert.deepEqual(rounds, ['a', 'b', 'c']);
  });

  test('a key that fails backs off, longer each time, and holds up no other', async () => {
    let broken = true;
    const rounds: string[] = [];
    const { clock, queue, errors } = setUp(async (key) => {
      rounds.push(key);
      if (key === 'bad' && broken) throw new Error('no');
    });
    await queue.start();
    queue.wake('bad');
    queue.wake('good');
    await clock.settle();
    assert.deepEqual(rounds, ['bad', 'good']);
    queue.wake('bad');
    await clock.settle();
    assert.deepEqual(errors, ['bad: Error: no'], 'a wake does not cut the back-off short');
    await clock.advance(1_300);
    assert.equal(errors.length, 2);
    await clock.advance(1_300);
    assert.equal(errors.length, 2, 'the second wait is longer');
    broken = false;
    queue.retryAll();
    await clock.settle();
    assert.deepEqual([rounds.filter((key) => key === 'bad').length, queue.idle()], [3, true]);
  });

  test('what a round answers is when to come back, unless woken before', async () => {
    let rounds = 0;
    const { clock, queue } = setUp(async () => (++rounds < 3 ? 5_000 : undefined));
    await queue.start();
    queue.wake('a');
    await clock.settle();
    assert.equal(rounds, 1);
    await clock.advance(2_000);
    queue.wake('a');
    await clock.settle();
    assert.equal(rounds, 2);
    await clock.advance(4_900);
    assert.equal(rounds, 2);
    await clock.advance(200);
    assert.deepEqual([rounds, clock.pending()], [3, 0]);
  });

  test('stop waits for what is in hand and leaves no timers', async () => {
    const gate = new Gate();
    const { clock, queue } = setUp(async (key) => {
      if (key === 'later') return 60_000;
      await gate.pass();
      return undefined;
    });
    await queue.start();
    queue.wake('later');
    queue.wake('slow');
    await clock.settle();
    let stopped = false;
    const stopping = queue.stop().then(() => (stopped = true));
    await clock.settle();
    assert.equal(stopped, false);
    gate.open();
    await stopping;
    queue.wake('slow');
    assert.deepEqual([queue.idle(), clock.pending()], [true, 0]);
  });
});
