import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aPod } from '../../testing/pods.ts';
import { StaticPodHold } from './static-pod-hold.ts';

function heldSets(): { clock: FakeClock; sets: StaticPodHold; told: string[] } {
  const clock = new FakeClock();
  const told: string[] = [];
  const sets = new StaticPodHold({
    clock,
    runs: (uid) => uid.startsWith('running'),
    onSet: (source, pods) => told.push(`${source}: ${pods.map(({ uid }) => uid).join(' ')}`),
  });
  return { clock, sets, told };
}
const running = aPod({ uid: 'running-1' });
const fresh = aPod({ uid: 'fresh-1', name: 'fresh' });

describe('sets of static pods', () => {
  test('of which nothing runs go on at once', () => {
    const { sets, told } = heldSets();
    sets.set('file', [fresh]);
    sets.set('http', []);
    assert.deepEqual(told, ['file: fresh-1', 'http: ']);
  });

  test('that run wait until the mirrors are known, each source with its newest word; later ones do not', async () => {
    const { clock, sets, told } = heldSets();
    sets.set('file', [running]);
    sets.set('http', [running]);
    sets.set('file', [running, fresh]);
    let started = false;
    const starting = sets.start().then(() => (started = true));
    await clock.advance(1_999);
    assert.deepEqual([told, started], [[], false]);
    sets.release();
    await starting;
    const expected = ['file: running-1 fresh-1', 'http: running-1'];
    assert.deepEqual(told, expected);
    sets.set('file', [running]);
    sets.release();
    await clock.advance(10_000);
    assert.deepEqual(told, [...expected, 'file: running-1']);
  });

  test('that wait are forgotten when the source names nothing that runs any more', async () => {
    const { clock, sets, told } = heldSets();
    sets.set('file', [running]);
    const starting = sets.start();
    sets.set('file', [fresh]);
    await starting;
    sets.release();
    await clock.advance(2_000);
    assert.deepEqual(told, ['file: fresh-1']);
  });

  test('that run do not wait for an API server that is away', async () => {
    const { clock, sets, told } = heldSets();
    sets.set('file', [running]);
    await clock.advance(2_000);
    assert.deepEqual(told, ['file: running-1']);
    await sets.start();
  });

  test('do not wait when the mirrors are known already', () => {
    const { sets, told } = heldSets();
    sets.release();
    sets.set('file', [running]);
    assert.deepEqual(told, ['file: running-1']);
  });

  test('are told to nobody after the end', async () => {
    const { clock, sets, told } = heldSets();
    sets.set('file', [running]);
    const starting = sets.start();
    await sets.stop();
    await starting;
    await clock.advance(5_000);
    sets.release();
    assert.deepEqual(told, []);
  });

  test('that came before the start hold it back no longer than themselves', async () => {
    const { sets } = heldSets();
    await sets.start();
    assert.equal(sets.name, 'static-pods');
  });
});
