import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Masked } from '../base/masked.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { createFakeCri } from '../testing/fake-cri/index.ts';
import { anImageManager } from '../testing/image-manager.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { makeCredential, nodeSource } from './credentials/credential.ts';
import type { ImageManagerDeps } from './image-manager.ts';

const one = aPod({ uid: 'uid-1', name: 'one' });
const two = aPod({ uid: 'uid-2', name: 'two' });

function setUp(more: Partial<ImageManagerDeps> = {}) {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  const lines: string[] = [];
  const events = {
    record: (pod: DesiredPod, { reason, message }: { reason: string; message: string }) =>
      void lines.push(`${pod.name} ${reason}: ${message}`),
  };
  const manager = anImageManager({ clock, service: cri, events, parallelPulls: 5, ...more });
  const ensure = (pod: DesiredPod, image = 'app:1', signal = new AbortController().signal) =>
    manager.ensure(pod, aContainer('main', { image }), 'spec.containers{main}', signal);
  const pulls = (): number => cri.calls.filter(({ verb }) => verb === 'pullImage').length;
  return { clock, cri, lines, ensure, pulls };
}

describe('identical pulls', () => {
  test('are one, and each pod has its own events', async () => {
    const { clock, cri, lines, ensure, pulls } = setUp();
    cri.images.scriptPulls('app:1', { takesMs: 4_000 });
    const first = ensure(one);
    await clock.advance(3_000);
    const second = ensure(two);
    await clock.advance(1_000);
    assert.deepEqual(await first, await second);
    assert.equal(pulls(), 1);
    const size = 'Image size: 1000000 bytes.';
    assert.deepEqual(lines, [
      'one Pulling: Pulling image "app:1"',
      'two Pulling: Pulling image "app:1"',
      `one Pulled: Successfully pulled image "app:1" in 4s (4s including waiting). ${size}`,
      `two Pulled: Successfully pulled image "app:1" in 1s (1s including waiting). ${size}`,
    ]);
  });

  test('that fail fail for each pod, with a back-off of its own', async () => {
    const { clock, cri, lines, ensure, pulls } = setUp();
    cri.images.scriptPulls('app:1', { takesMs: 1_000, failure: { kind: 'unavailable', message: 'no' } });
    const both = Promise.all([ensure(one), ensure(two)]);
    await clock.advance(1_000);
    const outcomes = await both;
    for (const outcome of outcomes) assert.equal('refusal' in outcome && outcome.refusal.reason, 'ErrImagePull');
    assert.equal(pulls(), 1);
    assert.equal(lines.filter((line) => line.includes('Failed')).length, 2);
    const again = await ensure(two);
    assert.equal('refusal' in again && again.refusal.reason, 'ImagePullBackOff');
  });

  test('go on for the pods that stay', async () => {
    const { clock, cri, lines, ensure, pulls } = setUp();
    cri.images.scriptPulls('app:1', { takesMs: 4_000 });
    const aborted = new AbortController();
    const first = assert.rejects(ensure(one, 'app:1', aborted.signal), /deleted/);
    const second = ensure(two);
    await clock.advance(1_000);
    aborted.abort(new Error('deleted'));
    await first;
    await clock.advance(3_000);
    assert.equal('ok' in (await second), true);
    assert.equal(pulls(), 1);
    assert.equal(lines.filter((line) => line.startsWith('one')).length, 1, 'nothing more is said of the pod that left');
  });

  test('end when no pod waits for the image any more', async () => {
    const { clock, cri, ensure, pulls } = setUp({ parallelPulls: 1 });
    cri.images.scriptPulls('app:1', { hangs: true }, {});
    const aborted = new AbortController();
    const all = [one, two].map((pod) => assert.rejects(ensure(pod, 'app:1', aborted.signal)));
    await clock.settle();
    aborted.abort(new Error('deleted'));
    await Promise.all(all);
    assert.equal('ok' in (await ensure(one)), true, 'the place in line is free again');
    assert.equal(pulls(), 2);
  });

  test('are not those with other credentials', async () => {
    const credentials = {
      of: ({ name }: DesiredPod) => ({
        missing: [],
        find: async () => ({
          credentials: [makeCredential(new Masked({ username: name, password: 'p' }), nodeSource)],
          problems: [],
        }),
      }),
    };
    const { clock, cri, ensure, pulls } = setUp({ credentials });
    cri.images.publish('app:1', {}, { username: 'one', password: 'p' });
    cri.images.scriptPulls('app:1', { takesMs: 1_000 });
    const both = Promise.all([ensure(one), ensure(two)]);
    await clock.advance(1_000);
    const [first, second] = await both;
    assert.equal(pulls(), 2);
    assert.deepEqual(['ok' in first, 'ok' in second], [true, false]);
  });
});

describe('the rate of pulls', () => {
  test('too many are refused, with back-off', async () => {
    const { clock, lines, ensure, pulls } = setUp({ pullRate: { perSecond: 1, burst: 2 } });
    for (const n of [1, 2]) assert.equal('ok' in (await ensure(one, `app:${n}`)), true);
    assert.deepEqual(await ensure(one, 'app:3'), {
      refusal: { reason: 'ErrImagePull', message: 'pull QPS exceeded', retryMs: 10_000 },
    });
    assert.equal(lines.at(-1), 'one Failed: Failed to pull image "app:3": pull QPS exceeded');
    assert.equal(pulls(), 2);
    await clock.advance(10_000);
    assert.equal('ok' in (await ensure(one, 'app:3')), true);
  });

  test('a shared pull counts once, and an image that is there not at all', async () => {
    const { cri, ensure } = setUp({ pullRate: { perSecond: 1, burst: 1 } });
    cri.images.add('there:1');
    const outcomes = await Promise.all([ensure(one), ensure(two), ensure(one, 'there:1')]);
    assert.deepEqual(
      outcomes.map((outcome) => 'ok' in outcome),
      [true, true, true],
    );
  });
});

test('a registry that is down has a reason of its own, also in back-off', async () => {
  const { cri, ensure } = setUp();
  cri.faults.fail('pullImage', 'unavailable', { times: 1, message: 'RegistryUnavailable: down' });
  const message = 'image pull failed for app:1 because the registry is unavailable: down';
  const first = await ensure(one);
  assert.deepEqual('refusal' in first && [first.refusal.reason, first.refusal.message], [
    'RegistryUnavailable',
    message,
  ]);
  const second = await ensure(one);
  assert.equal(
    'refusal' in second && second.refusal.message,
    `Back-off pulling image "app:1": RegistryUnavailable: ${message}`,
  );
});
