import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../base/errors.ts';
import { podUid } from '../base/ids.ts';
import type { ConfigMap } from '../gen/kubernetes/types.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { ApiObjects } from './api-objects.ts';
import { cachedObjects } from './cached-objects.ts';
import type { ReferringPod } from './ports.ts';
import { watchedObjects } from './watched-objects.ts';

const never = new AbortController().signal;
const podWith = (uid: string, ...configMaps: readonly string[]): ReferringPod => ({
  uid: podUid(uid),
  namespace: 'shop',
  spec: {
    containers: [{ name: 'c', envFrom: configMaps.map((name) => ({ configMapRef: { name } })) }],
  },
});
const object = (name: string, version: string, more: Partial<ConfigMap> = {}): ConfigMap => ({
  metadata: { name, namespace: 'shop', resourceVersion: version },
  ...more,
});

/** Watches of single objects, whose server answers when the test says so. */
class Watches {
  readonly clock = new FakeClock();
  readonly open = new Map<string, { synced: boolean; current: ConfigMap | undefined; onChange: () => void }>();
  readonly woken: (readonly string[])[] = [];
  begun = 0;
  error: string | undefined;
  readonly objects = new ApiObjects({
    clock: this.clock,
    inbox: { resourcesChanged: (uids) => void this.woken.push(uids) },
    cache: watchedObjects({
      watch: ({ plural }, { name }, onChange) => {
        this.begun++;
        const key = `${plural}/${name}`;
        assert.ok(!this.open.has(key), 'watched once');
        const state = { synced: false, current: undefined, onChange };
        this.open.set(key, state);
        return {
          synced: () => state.synced,
          current: () => state.current,
          lastError: () => this.error,
          stop: () => void this.open.delete(key),
        };
      },
    }),
  });

  says(key: string, current: ConfigMap | undefined): void {
    const state = this.open.get(key) ?? assert.fail(`${key} is not watched`);
    Object.assign(state, { synced: true, current });
    state.onChange();
  }
}

describe('ApiObjects, watching', () => {
  test('a pod waits for what it names, then reads it', async () => {
    const world = new Watches();
    let over = false;
    const waiting = world.objects.ready(podWith('u1', 'a'), never).then(() => (over = true));
    await world.clock.settle();
    assert.equal(over, false);
    world.says('configmaps/a', object('a', '1'));
    await waiting;
    assert.equal(world.objects.configMap('shop', 'a')?.metadata?.resourceVersion, '1');
    assert.equal(world.clock.pending(), 0);
  });

  test('an object that does not exist is known not to; one that was not read has a problem', async () => {
    const world = new Watches();
    const waiting = world.objects.ready(podWith('u1', 'a', 'b'), never);
    await world.clock.settle();
    world.says('configmaps/a', undefined);
    world.error = 'configmaps "b" is forbidden';
    await world.clock.advance(1_100);
    await waiting;
    assert.deepEqual(
      ['a', 'b'].map((name) => world.objects.problem('ConfigMap', 'shop', name)),
      [undefined, 'failed to sync configmap cache: configmaps "b" is forbidden'],
    );
  });

  test('a change wakes exactly the pods that name the object', async () => {
    const world = new Watches();
    world.objects.hold(podWith('u1', 'a', 'b'));
    world.objects.hold(podWith('u2', 'b'));
    world.objects.hold(podWith('u3', 'c'));
    world.says('configmaps/b', object('b', '2'));
    assert.deepEqual(world.woken, [['u1', 'u2']]);
  });

  test('kept while a pod names it: an edit or the end of the last one lets it go', async () => {
    const world = new Watches();
    world.objects.hold(podWith('u1', 'a', 'b'));
    world.objects.hold(podWith('u2', 'b'));
    world.objects.hold(podWith('u1', 'b'));
    assert.deepEqual([...world.open.keys()], ['configmaps/b']);
    world.objects.forget(podUid('u1'));
    assert.deepEqual([...world.open.keys()], ['configmaps/b']);
    world.objects.forget(podUid('u2'));
    assert.deepEqual([...world.open.keys()], []);
    assert.equal(world.objects.size(), 0);
  });

  test('what never changes is not watched any longer, and still there', async () => {
    const world = new Watches();
    world.objects.hold(podWith('u1', 'a'));
    world.says('configmaps/a', object('a', '1', { immutable: true }));
    assert.equal(world.open.size, 0);
    assert.equal(world.objects.configMap('shop', 'a')?.immutable, true);
  });

  test('a pod that is given up does not wait on', async () => {
    const world = new Watches();
    const aborted = new AbortController();
    const waiting = world.objects.ready(podWith('u1', 'a'), aborted.signal);
    await world.clock.settle();
    aborted.abort(new TubeletError('cancelled', 'over'));
    await assert.rejects(waiting, /over/);
    assert.equal(world.clock.pending(), 0);
  });
});

describe('ApiObjects, asking', () => {
  const world = (maxAgeMs: number) => {
    const clock = new FakeClock();
    const asked: string[] = [];
    const woken: (readonly string[])[] = [];
    const server = new Map<string, ConfigMap | TubeletError>();
    const objects = new ApiObjects({
      clock,
      inbox: { resourcesChanged: (uids) => void woken.push(uids) },
      cache: cachedObjects({
        clock,
        maxAgeMs: () => maxAgeMs,
        api: {
          get: async (_, { name }) => {
            asked.push(name);
            const answer = server.get(name) ?? new TubeletError('notFound', `configmaps "${name}" not found`);
            if (answer instanceof TubeletError) throw answer;
            return answer as never;
          },
        },
      }),
    });
    return { clock, asked, woken, server, objects };
  };

  test('an answer is used until it is too old; a newer one wakes who names it', async () => {
    const { clock, asked, woken, server, objects } = world(60_000);
    server.set('a', object('a', '1'));
    await objects.ready(podWith('u1', 'a'), never);
    await clock.advance(59_000);
    await objects.ready(podWith('u1', 'a'), never);
    assert.deepEqual([asked.length, woken.length], [1, 0]);
    server.set('a', object('a', '2'));
    await clock.advance(2_000);
    await objects.ready(podWith('u1', 'a'), never);
    assert.deepEqual([asked.length, woken], [2, [['u1']]]);
    assert.equal(objects.configMap('shop', 'a')?.metadata?.resourceVersion, '2');
  });

  test('with no age allowed, each use asks; two at once ask together', async () => {
    const { asked, server, objects } = world(0);
    server.set('a', object('a', '1'));
    await Promise.all([objects.ready(podWith('u1', 'a'), never), objects.ready(podWith('u2', 'a'), never)]);
    await objects.ready(podWith('u1', 'a'), never);
    assert.equal(asked.length, 2);
  });

  test('a failure keeps what is known; nothing known is a problem, absence is none', async () => {
    const { clock, server, objects } = world(0);
    server.set('a', new TubeletError('unavailable', 'connection refused'));
    const waiting = objects.ready(podWith('u1', 'a', 'none'), never);
    await clock.advance(1_100);
    await waiting;
    assert.match(objects.problem('ConfigMap', 'shop', 'a') ?? '', /connection refused/);
    assert.equal(objects.problem('ConfigMap', 'shop', 'none'), undefined);
    server.set('a', object('a', '1'));
    await objects.ready(podWith('u1', 'a'), never);
    server.set('a', new TubeletError('unavailable', 'connection refused'));
    await objects.ready(podWith('u1', 'a'), never);
    assert.deepEqual(
      [objects.configMap('shop', 'a') !== undefined, objects.problem('ConfigMap', 'shop', 'a')],
      [true, undefined],
    );
  });
});

describe('ApiObjects and the memory of the node', () => {
  const mib = 1024 * 1024;
  const names = Array.from({ length: 260 }, (_, index) => `c${index}`);
  const big = (name: string, version = '1') => object(name, version, { data: { a: 'x'.repeat(mib) } });

  test('a pod that names too much has none of it, with a problem, and others notice nothing', async () => {
    const world = new Watches();
    world.objects.hold(podWith('small', 'other'));
    world.says('configmaps/other', object('other', '1'));
    const waiting = world.objects.ready(podWith('hog', ...names, 'other'), never);
    assert.equal(world.open.size, 261);
    for (const name of names) if (world.open.has(`configmaps/${name}`)) world.says(`configmaps/${name}`, big(name));
    await waiting;
    assert.deepEqual([...world.open.keys()], ['configmaps/other'], 'no watch, and no contents, are kept');
    assert.equal(world.objects.configMap('shop', 'c0'), undefined);
    assert.match(
      world.objects.problem('ConfigMap', 'shop', 'c0') ?? '',
      /^failed to sync configmap cache: the 261 ConfigMaps and Secrets that the pod names take more than 16 MiB/,
    );
    assert.equal(world.objects.configMap('shop', 'other')?.metadata?.resourceVersion, '1');

    // Asked again and again, it does not fetch again and again; after a while it does.
    const { begun } = world;
    for (let tries = 0; tries < 10; tries++) await world.objects.ready(podWith('hog', ...names, 'other'), never);
    assert.equal(world.begun, begun);
    await world.clock.advance(301_000);
    const again = world.objects.ready(podWith('hog', ...names, 'other'), never);
    assert.equal(world.begun, begun + 260);
    for (const name of names)
      if (world.open.has(`configmaps/${name}`)) world.says(`configmaps/${name}`, object(name, '2'));
    await again;
    assert.equal(world.objects.problem('ConfigMap', 'shop', 'c0'), undefined, 'they became smaller');
    assert.equal(world.objects.configMap('shop', 'c0')?.metadata?.resourceVersion, '2');
  });

  test('a pod that names too many is refused before any is asked for', async () => {
    const world = new Watches();
    await world.objects.ready(podWith('hog', ...Array.from({ length: 5_000 }, (_, index) => `c${index}`)), never);
    assert.equal(world.begun, 0);
    assert.match(world.objects.problem('ConfigMap', 'shop', 'c7') ?? '', /the 5000 ConfigMaps and Secrets/);
  });

  test('a pod that found no room is woken when others are removed', async () => {
    const world = new Watches();
    for (let pod = 0; pod < 6; pod++) {
      const own = names.slice(pod * 14, pod * 14 + 14);
      world.objects.hold(podWith(`u${pod}`, ...own));
      for (const name of own) if (world.open.has(`configmaps/${name}`)) world.says(`configmaps/${name}`, big(name));
    }
    assert.match(world.objects.problem('ConfigMap', 'shop', 'c83') ?? '', /other pods have too much of the 64 MiB/);
    assert.equal(world.objects.problem('ConfigMap', 'shop', 'c0'), undefined);
    world.woken.length = 0;
    world.objects.forget(podUid('u0'));
    assert.ok(world.woken.flat().includes('u4'));
    assert.ok(world.open.has('configmaps/c56'));
  });

  test('objects that are asked for are bounded as they come', async () => {
    let asked = 0;
    const objects = new ApiObjects({
      clock: new FakeClock(),
      inbox: { resourcesChanged: () => {} },
      cache: cachedObjects({
        clock: new FakeClock(),
        maxAgeMs: () => 60_000,
        api: { get: async (_, { name }) => (asked++, big(name) as never) },
      }),
    });
    await objects.ready(podWith('hog', ...names), never);
    assert.ok(asked < 60, `${asked} were asked for`);
    assert.match(objects.problem('ConfigMap', 'shop', 'c0') ?? '', /more than 16 MiB/);
  });
});
