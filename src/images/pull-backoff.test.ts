import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { StartRefusal } from '../model/refusal.ts';
import { createFakeCri } from '../testing/fake-cri/index.ts';
import { anImageManager } from '../testing/image-manager.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryDecisions } from '../testing/memory-decisions.ts';
import { MemoryEvents } from '../testing/memory-events.ts';
import { aContainer, aPod } from '../testing/pods.ts';

const pod = aPod();
const other = aPod({ uid: 'uid-2', name: 'other' });
const failure = { kind: 'unavailable', message: 'connection refused' } as const;
const words = 'failed to pull and unpack image "docker.io/library/app:1": connection refused';

function setUp(parallelPulls = 1) {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  const events = new MemoryEvents();
  const decisions = new MemoryDecisions();
  const manager = anImageManager({ clock, service: cri, events, decisions, parallelPulls });
  const ensure = (image: string, of = pod, signal = new AbortController().signal) =>
    manager.ensure(of, aContainer('main', { image }), 'spec.containers{main}', signal);
  return {
    clock,
    cri,
    events,
    decisions,
    manager,
    ensure,
    pulls: () => cri.calls.filter(({ verb }) => verb === 'pullImage').length,
    refused: async (image: string, of = pod): Promise<StartRefusal> => {
      const ensured = await ensure(image, of);
      return 'refusal' in ensured ? ensured.refusal : assert.fail('it was pulled');
    },
  };
}

describe('back-off', () => {
  test('a pull that failed is tried again after 10 s, doubling up to 5 minutes', async () => {
    const { clock, cri, refused, pulls, decisions } = setUp();
    cri.images.scriptPulls('app:1', { failure });
    for (const [round, seconds] of [10, 20, 40, 80, 160, 300, 300].entries()) {
      assert.deepEqual(await refused('app:1'), {
        reason: 'ErrImagePull',
        message: words,
        retryMs: seconds * 1_000,
      });
      assert.equal(decisions.entries.at(-1)?.decision.nextTryInMs, seconds * 1_000);
      assert.deepEqual(decisions.take(), [
        'uid-1/main pull Pulling: Pulling image "app:1"',
        `uid-1/main backOff ErrImagePull: ${words}`,
      ]);
      await clock.advance(seconds * 1_000 - 1);
      assert.deepEqual(await refused('app:1'), {
        reason: 'ImagePullBackOff',
        message: `Back-off pulling image "app:1": ErrImagePull: ${words}`,
        retryMs: 1,
      });
      assert.equal(pulls(), round + 1);
      await clock.advance(1);
    }
  });

  test('is forgotten with a success', async () => {
    const { clock, cri, ensure, refused } = setUp();
    cri.images.scriptPulls('app:1', { failure }, { failure }, {}, { failure });
    await refused('app:1');
    await clock.advance(10_000);
    await refused('app:1');
    await clock.advance(20_000);
    assert.equal('ok' in (await ensure('app:1')), true);
    cri.images.remove('app:1');
    assert.equal((await refused('app:1')).retryMs, 10_000);
  });

  test('is that of one pod and one image', async () => {
    const { cri, ensure, refused } = setUp();
    cri.images.scriptPulls('app:1', { failure });
    await refused('app:1');
    assert.equal((await refused('app:1', other)).reason, 'ErrImagePull', 'another pod may try');
    assert.equal('ok' in (await ensure('app:2')), true, 'another image too');
    assert.equal((await refused('app:1')).reason, 'ImagePullBackOff');
  });

  test('an image that was loaded by other means is used all the same', async () => {
    const { cri, ensure, refused } = setUp();
    cri.images.scriptPulls('app:1', { failure });
    await refused('app:1');
    cri.images.add('app:1');
    assert.equal('ok' in (await ensure('app:1')), true);
  });

  test('goes with the pod', async () => {
    const { cri, manager, refused } = setUp();
    cri.images.scriptPulls('app:1', { failure });
    await refused('app:1');
    await refused('app:1', other);
    manager.forget(pod.uid);
    assert.equal((await refused('app:1')).reason, 'ErrImagePull');
    assert.equal((await refused('app:1', other)).reason, 'ImagePullBackOff');
  });
});

describe('an abort', () => {
  test('during a pull leaves no back-off and no event of a failure', async () => {
    const { clock, cri, events, ensure } = setUp();
    cri.images.scriptPulls('app:1', { hangs: true }, {});
    const gaveUp = new AbortController();
    const pulling = assert.rejects(ensure('app:1', pod, gaveUp.signal), /given up/);
    await clock.settle();
    gaveUp.abort(new Error('enough'));
    await pulling;
    assert.deepEqual(events.take(), ['Normal Pulling: Pulling image "app:1"']);
    assert.equal('ok' in (await ensure('app:1')), true);
  });

  test('removes a pull that waits from the queue', async () => {
    const { clock, cri, ensure, pulls } = setUp();
    cri.images.scriptPulls('slow:1', { takesMs: 60_000 });
    const slow = ensure('slow:1');
    await clock.settle();
    const gaveUp = new AbortController();
    const waiting = assert.rejects(ensure('app:1', other, gaveUp.signal), /enough/);
    await clock.settle();
    gaveUp.abort(new Error('enough'));
    await waiting;
    await clock.advance(60_000);
    assert.equal('ok' in (await slow), true);
    assert.equal(pulls(), 1, 'the other never began');
  });

  test('while the image is inspected is no refusal', async () => {
    const { cri, events, ensure } = setUp();
    cri.faults.hang('imageStatus');
    const gaveUp = new AbortController();
    const asking = assert.rejects(ensure('app:1', pod, gaveUp.signal), /enough/);
    gaveUp.abort(new Error('enough'));
    await asking;
    assert.deepEqual(events.take(), []);
  });
});

describe('at once', () => {
  for (const limit of [1, 3]) {
    test(`no more than ${limit}`, async () => {
      const { clock, cri, events, ensure, pulls } = setUp(limit);
      const images = Array.from({ length: 6 }, (_, n) => `app-${n}:1`);
      for (const image of images) cri.images.scriptPulls(image, { takesMs: 1_000 });
      const all = Promise.all(images.map((image) => ensure(image)));
      for (let done = 0; done < images.length; done += limit) {
        await clock.settle();
        assert.equal(pulls(), Math.min(images.length, done + limit));
        await clock.advance(1_000);
      }
      await all;
      const last = events.take().findLast((line) => line.includes('Successfully'));
      assert.match(last ?? '', new RegExp(`in 1s \\(${6 / limit}s including waiting\\)`));
    });
  }

  test('a pull that failed makes room for the next', async () => {
    const { cri, ensure, refused } = setUp(1);
    cri.images.scriptPulls('app:1', { failure });
    await refused('app:1');
    assert.equal('ok' in (await ensure('app:2')), true);
  });
});
