import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AuthConfig, ImageSpec } from '../../gen/cri/api.ts';
import { FakeClock } from '../fake-clock.ts';
import { fullImageName, repositoryOf } from './image-names.ts';
import { createFakeCri, type FakeCri } from './index.ts';

const spec = (image: string): ImageSpec => ImageSpec.fromPartial({ image });

async function pull(fake: FakeCri, name: string, auth?: { username: string; password: string }): Promise<string> {
  const request = { image: spec(name), auth: auth && AuthConfig.fromPartial(auth), sandboxConfig: undefined };
  return (await fake.pullImage(request)).imageRef;
}

async function idOf(fake: FakeCri, name: string): Promise<string | undefined> {
  return (await fake.imageStatus({ image: spec(name), verbose: false })).image?.id;
}

test('names in full', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['busybox', 'docker.io/library/busybox:latest', 'docker.io/library/busybox'],
    ['busybox:1', 'docker.io/library/busybox:1', 'docker.io/library/busybox'],
    ['me/app', 'docker.io/me/app:latest', 'docker.io/me/app'],
    ['localhost/app:1', 'localhost/app:1', 'localhost/app'],
    ['host:5000/app', 'host:5000/app:latest', 'host:5000/app'],
    ['example.com/a/b@sha256:12', 'example.com/a/b@sha256:12', 'example.com/a/b'],
  ];
  for (const [name, full, repository] of cases) {
    assert.equal(fullImageName(name), full);
    assert.equal(repositoryOf(full), repository);
  }
  assert.equal(fullImageName('sha256:12'), 'sha256:12');
});

test('pulls, finds by every name, removes', async () => {
  const fake = createFakeCri({ clock: new FakeClock() });
  fake.images.publish('busybox:1', { size: 7n, uid: 65_534n, username: '' });
  const id = await pull(fake, 'busybox:1');
  const { image } = await fake.imageStatus({ image: spec('docker.io/library/busybox:1'), verbose: false });
  assert.deepEqual([image?.id, image?.size, image?.uid?.value], [id, 7n, 65_534n]);
  assert.equal(await idOf(fake, image?.repoDigests[0] ?? ''), id);
  await fake.removeImage({ image: spec(id) });
  assert.equal(await idOf(fake, 'busybox:1'), undefined);
});

test('a name that was published again moves to the new image', async () => {
  const fake = createFakeCri({ clock: new FakeClock() });
  fake.images.publish('app:1', { content: 'old' });
  const before = await pull(fake, 'app:1');
  fake.images.publish('app:1', { content: 'new' });
  const after = await pull(fake, 'app:1');
  assert.notEqual(after, before);
  assert.equal(await idOf(fake, 'app:1'), after);
  assert.equal(await idOf(fake, before), before);
});

test('pulls fail, take time and hang as scripted', async () => {
  const clock = new FakeClock();
  const fake = createFakeCri({ clock });
  const failure = { kind: 'unavailable', message: 'registry away' } as const;
  fake.images.scriptPulls('app', { failure }, { takesMs: 3_000 });
  await assert.rejects(pull(fake, 'app'), { kind: 'unavailable', message: /registry away/ });
  const slow = pull(fake, 'app');
  await clock.advance(2_999);
  assert.equal(await idOf(fake, 'app'), undefined);
  await clock.advance(1);
  assert.equal(await idOf(fake, 'app'), await slow);
  fake.images.scriptPulls('other', { hangs: true });
  const controller = new AbortController();
  const request = { image: spec('other'), auth: undefined, sandboxConfig: undefined };
  const hanging = assert.rejects(fake.pullImage(request, { signal: controller.signal }), { kind: 'cancelled' });
  await clock.advance(3_600_000);
  controller.abort();
  await hanging;
});

test('a registry may know only what was published, and to whom', async () => {
  const fake = createFakeCri({ clock: new FakeClock() });
  fake.images.pullsAnything = false;
  fake.images.publish('secret:1', {}, { username: 'me', password: 'pw' });
  await assert.rejects(pull(fake, 'unknown:1'), { kind: 'notFound' });
  await assert.rejects(pull(fake, 'secret:1'), /pull access denied/);
  await assert.rejects(pull(fake, 'secret:1', { username: 'me', password: 'no' }), /pull access denied/);
  assert.match(await pull(fake, 'secret:1', { username: 'me', password: 'pw' }), /^sha256:/);
});
