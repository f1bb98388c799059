import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { RefreshingCache, waitAtMost } from './refreshing-cache.ts';
import { CoalescedRequests } from './coalesced-requests.ts';

const { signal } = new AbortController();
const unexpected = (error: unknown): void => assert.fail(String(error));
const never = (): Promise<never> => new Promise(() => {});

describe('a cached value', () => {
  test('is found out again when it is too old, by one at a time', async () => {
    const clock = new FakeClock();
    const kept = new RefreshingCache<number>(clock);
    let found = 0;
    const renew = () => kept.renew(1_000, async () => ++found, unexpected);
    const [first, second] = [renew(), renew()];
    assert.equal(first, second);
    await first;
    assert.equal(kept.value, 1);
    assert.equal(renew(), undefined);
    await clock.advance(1_000);
    await renew();
    assert.equal(kept.value, 2);
  });

  test('serves while it is new enough for the caller, and not while it is renewed', async () => {
    const clock = new FakeClock();
    const kept = new RefreshingCache<number>(clock);
    assert.equal(kept.serves(), false);
    const work = kept.renew(1_000, async () => 1, unexpected);
    assert.equal(kept.serves(), false);
    await work;
    assert.equal(kept.serves(), true);
    await clock.advance(500);
    assert.deepEqual([kept.serves(501), kept.serves(500)], [true, false]);
    await clock.advance(500);
    assert.equal(kept.serves(), false);
  });

  test('that fails leaves what was known, and is tried again sooner', async () => {
    const clock = new FakeClock();
    const kept = new RefreshingCache<number>(clock);
    await kept.renew(1_000, async () => 1, unexpected);
    await clock.advance(1_000);
    const reported: unknown[] = [];
    const fails = async (): Promise<number> => {
      throw new Error('no');
    };
    await kept.renew(1_000, fails, (error) => reported.push(error));
    assert.equal(reported.length, 1);
    assert.equal(kept.value, 1);
    assert.equal(kept.renew(1_000, fails, unexpected), undefined);
    await clock.advance(500);
    await kept.renew(1_000, async () => 2, unexpected);
    assert.equal(kept.value, 2);
  });

  test('that hangs is waited for once', async () => {
    const clock = new FakeClock();
    const kept = new RefreshingCache<number>(clock);
    let over = false;
    const waiting = waitAtMost(clock, [undefined, kept.renew(1_000, never, unexpected)]).then(() => (over = true));
    await clock.advance(1_999);
    assert.equal(over, false);
    await clock.advance(1);
    await waiting;
    assert.equal(kept.renew(1_000, never, unexpected), undefined);
    assert.equal(clock.pending(), 0);
  });

  test('that is quick leaves no timer behind', async () => {
    const clock = new FakeClock();
    await waitAtMost(clock, [Promise.resolve()]);
    await waitAtMost(clock, []);
    assert.equal(clock.pending(), 0);
  });
});

describe('one answer for all', () => {
  test('who ask at once, and for a moment', async () => {
    const clock = new FakeClock();
    const shared = new CoalescedRequests(clock, 1_000);
    let works = 0;
    const ask = () => shared.ask('a', async () => ++works, signal);
    assert.deepEqual(await Promise.all([ask(), ask()]), [1, 1]);
    await clock.advance(999);
    assert.equal(await ask(), 1);
    await clock.advance(1);
    assert.equal(await ask(), 2);
    assert.equal(await shared.ask('b', async () => 'other', signal), 'other');
  });

  test('is dropped when its time is over, without another request; at the end no timer is left', async () => {
    const clock = new FakeClock();
    const shared = new CoalescedRequests(clock, 1_000);
    await shared.ask('a', async () => 1, signal);
    assert.equal(clock.pending(), 1);
    await clock.advance(1_000);
    assert.equal(clock.pending(), 0);

    let finish: (value: number) => void = unexpected;
    const late = shared.ask('late', () => new Promise<number>((resolve) => (finish = resolve)), signal);
    await shared.ask('a', async () => 2, signal);
    shared.close();
    assert.equal(clock.pending(), 0);
    finish(3);
    assert.equal(await late, 3, 'who waits is still answered');
    assert.equal(clock.pending(), 0);
  });

  test('who gives up ends the waiting, not the work', async () => {
    const shared = new CoalescedRequests(new FakeClock(), 1_000);
    const asker = new AbortController();
    let finish: (value: number) => void = unexpected;
    const work = () => new Promise<number>((resolve) => (finish = resolve));
    const given = shared.ask('a', work, asker.signal);
    const other = shared.ask('a', work, signal);
    asker.abort(new Error('gone'));
    await assert.rejects(given, /gone/);
    finish(7);
    assert.equal(await other, 7);
  });

  test('a failure is reported to all who wait and is not kept', async () => {
    const shared = new CoalescedRequests(new FakeClock(), 1_000);
    const fails = async (): Promise<number> => {
      throw new Error('no');
    };
    await assert.rejects(shared.ask('a', fails, signal), /no/);
    assert.equal(await shared.ask('a', async () => 1, signal), 1);
  });
});
