import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PresentImage } from '../model/present-image.ts';
import type { Refusable } from '../model/refusal.ts';
import { createFakeCri, type FakeCri } from '../testing/fake-cri/index.ts';
import { anImageManager } from '../testing/image-manager.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryEvents } from '../testing/memory-events.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import type { ImageManager } from './image-manager.ts';

const pod = aPod({ metadata: { annotations: { team: 'a' } } });
const fieldPath = 'spec.containers{main}';

interface World {
  readonly clock: FakeClock;
  readonly cri: FakeCri;
  readonly events: MemoryEvents;
  readonly manager: ImageManager;
  readonly ensure: (image: string, policy?: string) => Promise<Refusable<PresentImage>>;
  readonly pulls: () => number;
}

function setUp(): World {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  const events = new MemoryEvents();
  const manager = anImageManager({ clock, service: cri, events });
  return {
    clock,
    cri,
    events,
    manager,
    ensure: (image, imagePullPolicy = 'IfNotPresent') =>
      manager.ensure(pod, aContainer('main', { image, imagePullPolicy }), fieldPath, new AbortController().signal),
    pulls: () => cri.calls.filter(({ verb }) => verb === 'pullImage').length,
  };
}

function present(ensured: Refusable<PresentImage>): { ref: string; user: unknown } {
  if ('refusal' in ensured) assert.fail(`${ensured.refusal.reason}: ${ensured.refusal.message}`);
  return ensured.ok;
}

describe('policies', () => {
  test('IfNotPresent pulls what is absent, once', async () => {
    const { cri, ensure, pulls } = setUp();
    const first = present(await ensure('busybox'));
    assert.equal(first.ref, cri.images.find('busybox:latest')?.id);
    assert.deepEqual(present(await ensure('busybox')), first);
    assert.equal(pulls(), 1);
  });

  test('Always pulls what is present, and does not ask for it before', async () => {
    const { cri, ensure, pulls } = setUp();
    cri.images.add('busybox:1', { content: 'old' });
    cri.images.publish('busybox:1', { content: 'new' });
    const old = cri.images.find('busybox:1')?.id;
    assert.notEqual(present(await ensure('busybox:1', 'Always')).ref, old);
    assert.equal(pulls(), 1);
    assert.equal(cri.calls[0]?.verb, 'pullImage');
  });

  test('Never takes what is there and pulls nothing', async () => {
    const { cri, ensure, pulls } = setUp();
    const { id } = cri.images.add('busybox:1');
    assert.equal(present(await ensure('busybox:1', 'Never')).ref, id);
    assert.deepEqual(await ensure('nope:1', 'Never'), {
      refusal: {
        reason: 'ErrImageNeverPull',
        message: 'Container image "nope:1" is not present with pull policy of Never',
      },
    });
    assert.equal(pulls(), 0);
  });
});

describe('what is answered', () => {
  test('the user that the image wants to run as', async () => {
    const { cri, ensure } = setUp();
    cri.images.add('number:1', { uid: 1000n });
    cri.images.add('name:1', { username: 'nobody' });
    cri.images.add('zero:1', { uid: 0n });
    cri.images.add('none:1');
    cri.images.publish('pulled:1', { uid: 65534n });
    const user = async (image: string) => present(await ensure(image)).user;
    assert.deepEqual(await user('number:1'), { uid: 1000 });
    assert.deepEqual(await user('name:1'), { name: 'nobody' });
    assert.deepEqual(await user('zero:1'), { uid: 0 });
    assert.deepEqual(await user('none:1'), {});
    assert.deepEqual(await user('pulled:1'), { uid: 65534 });
  });

  test('the runtime gets the complete name and the annotations of the pod', async () => {
    const { cri, ensure } = setUp();
    await ensure('busybox');
    for (const { request } of cri.calls) {
      const { image } = request as { image: { image: string; annotations: Record<string, string> } };
      assert.deepEqual([image.image, image.annotations], ['busybox:latest', { team: 'a' }]);
    }
    assert.deepEqual(
      cri.calls.map(({ verb }) => verb),
      ['imageStatus', 'pullImage', 'imageStatus'],
    );
  });

  test('a name that is none is refused with an event, before the runtime is asked', async () => {
    const { cri, events, ensure } = setUp();
    const message =
      'Failed to apply default image tag "Busybox": couldn\'t parse image name "Busybox": ' +
      'invalid reference format: repository name (library/Busybox) must be lowercase';
    assert.deepEqual(await ensure('Busybox'), { refusal: { reason: 'InvalidImageName', message } });
    assert.deepEqual(events.take(), [`Warning InspectFailed: ${message}`]);
    assert.deepEqual(cri.calls, []);
  });

  test('a name of any length makes a bounded message', async () => {
    const { events, ensure } = setUp();
    for (const name of [`B${'b'.repeat(100_000)}`, '/d'.repeat(50_000)]) {
      const { refusal } = (await ensure(name)) as { readonly refusal: { readonly message: string } };
      for (const text of [refusal.message, ...events.take()])
        assert.ok(text.length > 500 && text.length < 10 * 1_024, `${text.length}`);
    }
  });

  test('a container without image is refused', async () => {
    const { manager } = setUp();
    const { image: _, ...nameless } = aContainer('main');
    const ensured = await manager.ensure(pod, nameless, fieldPath, new AbortController().signal);
    assert.equal('refusal' in ensured && ensured.refusal.reason, 'InvalidImageName');
  });

  test('a runtime that does not answer is a refusal of this container, not an error of the pod', async () => {
    const { cri, events, ensure, pulls } = setUp();
    cri.faults.fail('imageStatus', 'unavailable', { times: 1, message: 'connection refused' });
    const message = 'Failed to inspect image "busybox:1": connection refused';
    assert.deepEqual(await ensure('busybox:1'), { refusal: { reason: 'ImageInspectError', message } });
    assert.deepEqual(events.take(), [`Warning InspectFailed: ${message}`]);
    assert.equal(pulls(), 0);
    present(await ensure('busybox:1'));
  });
});

describe('events of a pull', () => {
  test('say how long it took, how long it waited, and how large it is', async () => {
    const { clock, cri, events, ensure } = setUp();
    cri.images.publish('busybox:1', { size: 2_211_234n });
    cri.images.scriptPulls('busybox:1', { takesMs: 1_234 });
    const pulling = ensure('busybox:1');
    await clock.advance(1_234);
    present(await pulling);
    assert.deepEqual(events.entries, [
      { type: 'Normal', reason: 'Pulling', message: 'Pulling image "busybox:1"', fieldPath },
      {
        type: 'Normal',
        reason: 'Pulled',
        message:
          'Successfully pulled image "busybox:1" in 1.234s (1.234s including waiting). Image size: 2211234 bytes.',
        fieldPath,
      },
    ]);
  });

  test('name the image as the pod writes it', async () => {
    const { events, ensure } = setUp();
    await ensure('busybox');
    await ensure('busybox');
    assert.deepEqual(
      events.take().map((line) => line.replace(/ in .*/, '')),
      [
        'Normal Pulling: Pulling image "busybox"',
        'Normal Pulled: Successfully pulled image "busybox"',
        'Normal Pulled: Container image "busybox" already present on machine',
      ],
    );
  });
});
