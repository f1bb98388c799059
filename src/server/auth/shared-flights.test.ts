import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { SharedFlights } from './shared-flights.ts';

function setUp(max = 10) {
  const clock = new FakeClock();
  const flights = new SharedFlights<string>({ clock, limitMs: 30_000, max });
  const begun: { readonly signal: AbortSignal; readonly land: (value: string) => void }[] = [];
  const work = (signal: AbortSignal): Promise<string> =>
    new Promise((land) => {
      begun.push({ signal, land });
    });
  return { clock, flights, begun, work };
}

const calm = (): AbortSignal => new AbortController().signal;

test('all who ask meanwhile get one outcome; who asks later begins anew', async () => {
  const { flights, begun, work, clock } = setUp();
  const all = [1, 2, 3].map(() => flights.run('k', work, calm()));
  assert.equal(begun.length, 1);
  begun[0]?.land('x');
  assert.deepEqual(await Promise.all(all), ['x', 'x', 'x']);
  assert.equal(flights.size, 0);
  assert.equal(clock.pending(), 0, 'no timer is left');
  const later = flights.run('k', work, calm());
  begun[1]?.land('y');
  assert.equal(await later, 'y');
});

test('who leaves does not end it for others; when the last has left it is given up', async () => {
  const { flights, begun, work, clock } = setUp();
  const [one, other] = [new AbortController(), new AbortController()];
  const first = flights.run('k', work, one.signal);
  const second = flights.run('k', work, other.signal);
  one.abort(new Error('gone'));
  await assert.rejects(first, /gone/);
  assert.equal(begun[0]?.signal.aborted, false);
  other.abort(new Error('gone too'));
  await assert.rejects(second, /gone too/);
  assert.equal(begun[0]?.signal.aborted, true);
  assert.equal(clock.pending(), 0);

  const anew = flights.run('k', work, calm());
  assert.equal(begun.length, 2, 'no caller joins what was given up');
  begun[0]?.land('late');
  await clock.settle();
  assert.equal(flights.size, 1, 'what comes of it late does not end the new one');
  begun[1]?.land('new');
  assert.equal(await anew, 'new');
});

test('too long, too many, too late', async () => {
  const { flights, begun, work, clock } = setUp(2);
  const slow = flights.run('slow', work, calm());
  const caught = assert.rejects(slow, { kind: 'timeout' });
  const other = flights.run('other', work, calm());
  await assert.rejects(flights.run('third', work, calm()), { kind: 'exhausted' });
  const joined = flights.run('other', work, calm());
  begun[1]?.land('fine');
  assert.deepEqual(await Promise.all([other, joined]), ['fine', 'fine']);
  await clock.advance(30_000);
  await caught;
  assert.equal(flights.size, 0);
  await assert.rejects(flights.run('k', work, AbortSignal.abort(new Error('left'))), /left/);
  assert.equal(begun.length, 2);
});

test('one owner has no more than its share, and leaves room for others', async () => {
  const clock = new FakeClock();
  const flights = new SharedFlights<string>({ clock, limitMs: 30_000, max: 10, maxPerOwner: 2 });
  const land: ((value: string) => void)[] = [];
  const work = (): Promise<string> => new Promise((resolve) => void land.push(resolve));
  const first = [flights.run('1', work, calm(), 'flood'), flights.run('2', work, calm(), 'flood')];
  await assert.rejects(flights.run('3', work, calm(), 'flood'), { kind: 'exhausted', message: /2 .* for flood/ });
  const joins = flights.run('2', work, calm(), 'flood');
  const other = flights.run('4', work, calm(), 'good');
  for (const one of land) one('done');
  assert.deepEqual(await Promise.all([...first, joins, other]), ['done', 'done', 'done', 'done']);
  const again = flights.run('5', work, calm(), 'flood');
  land.at(-1)?.('again');
  assert.equal(await again, 'again', 'what is over does not count');
});

test('every caller gets the failure, and it is not kept', async () => {
  const { flights } = setUp();
  const fail = async (): Promise<string> => {
    throw new Error('no');
  };
  const all = await Promise.allSettled([1, 2].map(() => flights.run('k', fail, calm())));
  assert.ok(all.every(({ status }) => status === 'rejected'));
  assert.equal(await flights.run('k', async () => 'yes', calm()), 'yes');
});
