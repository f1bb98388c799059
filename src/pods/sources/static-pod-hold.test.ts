import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aPod } from '../../testing/pods.ts';
import { StaticPodHold } from './static-pod-hold.ts';

function setUp(): { clock: FakeClock; sets: StaticPodHold; published: string[] } {
  const clock = new FakeClock();
  const published: string[] = [];
  const sets = new StaticPodHold({
    clock,
    runs: (uid) => uid.startsWith('running'),
    onSet: (source, pods) => published.push(`${source}: ${pods.map(({ uid }) => uid).join(' ')}`),
  });
  return { clock, sets, published };
}
const running = aPod({ uid: 'running-1' });
const fresh = aPod({ uid: 'fresh-1', name: 'fresh' });

describe('sets of static pods', () => {
  test('of which nothing runs go on at once', () => {
    const { sets, published } = setUp();
    sets.set('file', [fresh]);
    sets.set('http', []);
    assert.deepEqual(published, ['file: fresh-1', 'http: ']);
  });

  test('that run wait until the mirrors are known, each source with its newest set; later ones do not', async () => {
    const { clock, sets, published } = setUp();
    sets.set('file', [running]);
    sets.set('http', [running]);
    sets.set('file', [running, fresh]);
    let started = false;
    const starting = sets.start().then(() => (started = true));
    await clock.advance(1_999);
    assert.deepEqual([published, started], [[], false]);
    sets.release();
    await starting;
    const expected = ['file: running-1 fresh-1', 'http: running-1'];
    assert.deepEqual(published, expected);
    sets.set('file', [running]);
    sets.release();
    await clock.advance(10_000);
    assert.deepEqual(published, [...expected, 'file: running-1']);
  });

  test('that wait are forgotten when the source names nothing that runs any more', async () => {
    const { clock, sets, published } = setUp();
    sets.set('file', [running]);
    const starting = sets.start();
    sets.set('file', [fresh]);
    await starting;
    sets.release();
    await clock.advance(2_000);
    assert.deepEqual(published, ['file: fresh-1']);
  });

  test('that run do not wait for an API server that is away', async () => {
    const { clock, sets, published } = setUp();
    sets.set('file', [running]);
    await clock.advance(2_000);
    assert.deepEqual(published, ['file: running-1']);
    await sets.start();
  });

  test('do not wait when the mirrors are known already', () => {
    const { sets, published } = setUp();
    sets.release();
    sets.set('file', [running]);
    assert.deepEqual(published, ['file: running-1']);
  });

  test('are not published after the end', async () => {
    const { clock, sets, published } = setUp();
    sets.set('file', [running]);
    const starting = sets.start();
    await sets.stop();
    await starting;
    await clock.advance(5_000);
    sets.release();
    assert.deepEqual(published, []);
  });

  test('that came before the start hold it back no longer than themselves', async () => {
    const { sets } = setUp();
    await sets.start();
    assert.equal(sets.name, 'static-pods');
  });
});
