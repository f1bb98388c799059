import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Volume } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { podPaths } from '../model/pod-paths.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryDecisions } from '../testing/memory-decisions.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aVolumeManager } from '../testing/volume-manager.ts';
import { memoryVolumeHost } from '../testing/memory-volume-host.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import type { VolumePlugin } from './ports.ts';

const never = new AbortController().signal;
const root = '/var/lib/kubelet/pods';

/** A promise that a test ends. */
function hang(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let end: { resolve: () => void; reject: (reason: unknown) => void } = { resolve: () => {}, reject: () => {} };
  const promise = new Promise<void>((resolve, reject) => void (end = { resolve, reject }));
  return { promise, ...end };
}

/** Plugins that only write down what they are asked: emptyDir with a folder on disk, hostPath, and secret, which follows. */
function setUp(more: { readonly refreshInMs?: () => number | undefined } = {}) {
  const clock = new FakeClock();
  const files = new MemoryFiles();
  const calls: string[] = [];
  const events: string[] = [];
  const decisions = new MemoryDecisions();
  const woken: string[] = [];
  const failing = new Map<string, string>();
  const hanging = new Map<string, ReturnType<typeof hang>>();
  const plugin = (kind: 'emptyDir' | 'hostPath' | 'secret'): VolumePlugin => ({
    ...(kind === 'emptyDir' && { folder: 'kubernetes.io~empty-dir' }),
    ...(kind === 'secret' && { follows: true }),
    handles: (volume) => volume[kind] !== undefined,
    async setUp({ pod: { uid }, volume: { name } }, signal) {
      calls.push(`up ${kind} ${uid} ${name}`);
      const hung = hanging.get(name);
      signal.addEventListener('abort', () => hung?.reject(signal.reason));
      await hung?.promise;
      if (kind === 'emptyDir') await files.makeFolder(`${root}/${uid}/volumes/kubernetes.io~empty-dir/${name}`, 0o777);
      const problem = failing.get(name);
      if (problem !== undefined) throw new Error(problem);
      return { hostPath: `/${kind}/${name}` };
    },
    async tearDown({ uid, name }) {
      calls.push(`down ${kind} ${uid} ${name}`);
      if (failing.has(name)) throw new Error(`${name} is busy`);
      await files.removeTree(`${root}/${uid}/volumes/kubernetes.io~empty-dir/${name}`);
    },
  });
  const manager = aVolumeManager({
    decisions,
    clock,
    log: new MemoryLog(),
    host: memoryVolumeHost(files),
    paths: podPaths('/var/lib/kubelet', '/var/log/pods'),
    plugins: [plugin('emptyDir'), plugin('hostPath'), plugin('secret')],
    subPaths: { clean: async (uid) => void calls.push(`clean ${uid}`) },
    events: { record: (_, event) => void events.push(`${event.type} ${event.reason}: ${event.message}`) },
    wake: (uid) => void woken.push(`${uid} at ${clock.monotonic()}`),
    ...more,
  });
  const ready = (pod: DesiredPod): readonly string[] => [...manager.mounted(pod.uid).keys()];
  return { clock, files, calls, events, decisions, woken, failing, hanging, manager, ready };
}

const using = (...volumes: readonly Volume[]): DesiredPod =>
  aPod({
    spec: {
      volumes,
      containers: [aContainer('main', { volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) })],
    },
  });
const cache: Volume = { name: 'cache', emptyDir: {} };
const etc: Volume = { name: 'etc', hostPath: { path: '/etc' } };
const keys: Volume = { name: 'keys', secret: { secretName: 's' } };
const pod = using(cache, etc);

describe('mount', () => {
  test('every volume by its own kind, once', async () => {
    const { calls, manager } = setUp();
    await manager.mount(pod, never);
    await manager.mount(pod, never);
    assert.deepEqual(calls, ['up emptyDir uid-1 cache', 'up hostPath uid-1 etc']);
    assert.deepEqual(Object.fromEntries(manager.mounted(pod.uid)), {
      cache: { hostPath: '/emptyDir/cache' },
      etc: { hostPath: '/hostPath/etc' },
    });
  });

  test('what follows objects is brought up to date every time', async () => {
    const { calls, manager } = setUp();
    await manager.mount(using(keys), never);
    await manager.mount(using(keys), never);
    assert.equal(calls.length, 2);
  });

  test('what no container uses is left alone, whatever it is', async () => {
    const { calls, manager } = setUp();
    await manager.mount(aPod({ spec: { volumes: [cache, { name: 'x', nfs: { server: 's', path: '/' } }] } }), never);
    assert.deepEqual(calls, []);
  });

  test('one that fails delays the pod; the others are kept, and only it is retried', async () => {
    const { calls, failing, manager, ready, clock, woken, events } = setUp();
    failing.set('etc', 'no such disk');
    const message = 'MountVolume.SetUp failed for volume "etc" : no such disk';
    await assert.rejects(manager.mount(pod, never), {
      message: `Unable to attach or mount volumes: unmounted volumes=[etc], unattached volumes=[], failed to process volumes=[]: ${message}`,
    });
    assert.deepEqual([ready(pod), events], [['cache'], [`Warning FailedMount: ${message}`]]);
    // Not yet: the sync has another reason.
    await assert.rejects(manager.mount(pod, never));
    assert.deepEqual([calls.length, events.length], [2, 1]);
    await clock.advance(500);
    assert.deepEqual(woken, ['uid-1 at 500']);
    failing.clear();
    await manager.mount(pod, never);
    assert.deepEqual([ready(pod), calls.length], [['cache', 'etc'], 3]);
  });

  test('retries back off', async () => {
    const { failing, manager, clock, woken, events } = setUp();
    failing.set('etc', 'no');
    for (let tries = 0; tries < 10; tries++) {
      await assert.rejects(manager.mount(using(etc), never));
      await clock.advance(130_000);
    }
    const at = woken.map((text) => Number(text.split(' ')[2])).map((ms, index) => ms - index * 130_000);
    assert.deepEqual(at, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 122_000, 122_000]);
    assert.equal(events.filter((text) => text.includes('MountVolume.SetUp')).length, 10);
  });

  test('retry makes the failed volumes of one plugin due, and no others', async () => {
    const { failing, manager, woken, calls } = setUp();
    for (const name of ['etc', 'cache']) failing.set(name, 'no');
    await assert.rejects(manager.mount(pod, never));
    failing.clear();
    manager.retry('kubernetes.io/host-path');
    assert.deepEqual(woken, [`${pod.uid} at 0`]);
    await assert.rejects(manager.mount(pod, never), /cache/);
    assert.equal(calls.filter((call) => call.startsWith('up hostPath')).length, 2);
    assert.equal(calls.filter((call) => call.startsWith('up emptyDir')).length, 1);
  });

  test('storage that answers again makes all failed volumes due', async () => {
    const { failing, manager, woken, calls } = setUp();
    for (const name of ['etc', 'cache']) failing.set(name, 'does not answer');
    await assert.rejects(manager.mount(pod, never));
    failing.clear();
    manager.retryAll();
    assert.deepEqual(woken, [`${pod.uid} at 0`]);
    await manager.mount(pod, never);
    assert.equal(calls.filter((call) => call.startsWith('up emptyDir')).length, 2);
  });

  test('what follows objects is tried at every sync: the wake may come from the object', async () => {
    const { failing, manager, events } = setUp();
    failing.set('keys', 'secret "s" not found');
    await assert.rejects(manager.mount(using(keys), never));
    await assert.rejects(manager.mount(using(keys), never));
    assert.equal(events.length, 1, 'the same failure is reported once in its time');
    failing.set('keys', 'another trouble');
    await assert.rejects(manager.mount(using(keys), never));
    assert.equal(events.length, 2);
    failing.clear();
    await manager.mount(using(keys), never);
  });

  test('a refresh that fails does not delay a pod that has its volume', async () => {
    const { failing, manager, ready, events } = setUp();
    await manager.mount(using(keys), never);
    failing.set('keys', 'gone');
    await manager.mount(using(keys), never);
    assert.deepEqual([ready(using(keys)), events.length], [['keys'], 1]);
  });

  test('volumes are set up in parallel, and one that hangs delays only its pod', async () => {
    const { hanging, manager, ready, clock, events, calls } = setUp();
    hanging.set('cache', hang());
    const held = manager.mount(pod, never);
    const other = aPod({ ...pod, uid: 'uid-2', spec: using(etc).spec });
    await manager.mount(other, never);
    await clock.advance(0);
    assert.deepEqual([ready(pod), ready(other)], [['etc'], ['etc']]);
    const outcome = assert.rejects(held, { kind: 'timeout' });
    await clock.advance(123_000);
    await outcome;
    assert.deepEqual(events, [
      'Warning FailedMount: Unable to attach or mount volumes: unmounted volumes=[cache], unattached volumes=[], ' +
        'failed to process volumes=[]: timed out waiting for the condition',
    ]);
    // The next sync joins the operation that is under way.
    const joined = manager.mount(pod, never);
    hanging.get('cache')?.resolve();
    await joined;
    assert.equal(calls.filter((call) => call.includes('cache')).length, 1);
  });

  test('a pod that waits for two minutes gets an event', async () => {
    const { failing, manager, clock, events } = setUp();
    failing.set('keys', 'no');
    for (let round = 0; round < 14; round++) {
      await assert.rejects(manager.mount(using(keys), never));
      await clock.advance(10_000);
    }
    assert.equal(events.filter((text) => text.endsWith('timed out waiting for the condition')).length, 1);
  });

  test('an aborted caller does not abort what is under way', async () => {
    const { hanging, manager, ready, clock } = setUp();
    hanging.set('cache', hang());
    const gaveUp = new AbortController();
    const outcome = assert.rejects(manager.mount(pod, gaveUp.signal), /enough/);
    await clock.advance(0);
    gaveUp.abort(new Error('enough'));
    await outcome;
    hanging.get('cache')?.resolve();
    await clock.advance(0);
    assert.deepEqual(ready(pod), ['cache', 'etc']);
  });

  test('the pod is woken when contents expire, but not all the time', async () => {
    const { manager, clock, woken } = setUp({ refreshInMs: () => 0 });
    await manager.mount(using(keys), never);
    await clock.advance(30_000);
    assert.deepEqual(woken, ['uid-1 at 10000']);
  });
});

describe('kinds that cannot be mounted', () => {
  for (const [volume, words] of [
    [{ name: 'x', nfs: { server: 's', path: '/' } }, 'volume "x" is of a kind that this version cannot mount: nfs'],
    [{ name: 'x' }, 'volume "x" is of a kind that this version cannot mount: none'],
    [{ name: 'x', gitRepo: { repository: 'r' } }, 'volume "x" is a gitRepo, which is refused by design'],
  ] as const) {
    test(words, async () => {
      const { calls, events, manager } = setUp();
      const failure: unknown = await manager.mount(using(cache, volume), never).catch((error: unknown) => error);
      const text = `Unable to attach or mount volumes: unmounted volumes=[x], unattached volumes=[], failed to process volumes=[x]: ${words}`;
      assert.ok(failure instanceof Error && failure.message.startsWith(text), String(failure));
      assert.equal(events[0]?.startsWith(`Warning FailedMount: ${text}`), true);
      assert.deepEqual(calls, [], 'nothing is made');
    });
  }
});

describe('tearing down', () => {
  test('goes by what is on disk: subPaths first, and the pod may be unknown', async () => {
    const { calls, files, manager, ready } = setUp();
    await manager.mount(pod, never);
    await files.makeFolder(`${root}/uid-1/volumes/kubernetes.io~empty-dir/older`, 0o777);
    await files.makeFolder(`${root}/uid-1/volumes/example.com~foreign/x`, 0o777);
    await manager.unmount(pod);
    assert.deepEqual(calls.slice(2), ['clean uid-1', 'down emptyDir uid-1 cache', 'down emptyDir uid-1 older']);
    assert.deepEqual(ready(pod), []);
    await manager.unmount(pod);
    assert.deepEqual(calls.slice(5), ['clean uid-1']);
  });

  test('one that is busy keeps none of the others, and all stays on record until it is done', async () => {
    const { failing, files, manager, ready } = setUp();
    const two = using(cache, { name: 'more', emptyDir: {} });
    await manager.mount(two, never);
    failing.set('cache', 'busy');
    await assert.rejects(manager.unmount(two), /cache is busy/);
    assert.deepEqual(await files.list(`${root}/uid-1/volumes/kubernetes.io~empty-dir`), ['cache']);
    assert.deepEqual(ready(two), ['cache', 'more']);
    failing.clear();
    await manager.unmount(two);
    assert.deepEqual(ready(two), []);
  });

  test('an operation under way is given up first', async () => {
    const { hanging, manager, clock, ready, calls } = setUp();
    hanging.set('cache', hang());
    const outcome = assert.rejects(manager.mount(pod, never), { kind: 'cancelled' });
    await clock.advance(0);
    await manager.unmount(pod);
    await outcome;
    assert.deepEqual([ready(pod), calls.at(-1)], [[], 'clean uid-1']);
  });

  test('one that ignores the abort is named', async () => {
    const { hanging, manager, clock } = setUp();
    const deaf = hang();
    hanging.set('cache', { ...deaf, reject: () => {} });
    const mounting = manager.mount(pod, never).catch(() => undefined);
    await clock.advance(0);
    const outcome = assert.rejects(manager.unmount(pod), /volumes are still being set up: cache/);
    await clock.advance(123_000);
    await outcome;
    deaf.resolve();
    await mounting;
    await manager.unmount(pod);
  });

  test('a pod that comes back waits for it', async () => {
    const { manager, calls, ready } = setUp();
    await manager.mount(pod, never);
    const down = manager.unmount(pod);
    await manager.mount(pod, never);
    await down;
    assert.deepEqual(calls.slice(2), [
      'clean uid-1',
      'down emptyDir uid-1 cache',
      'up emptyDir uid-1 cache',
      'up hostPath uid-1 etc',
    ]);
    assert.deepEqual(ready(pod), ['cache', 'etc']);
  });
});

test('a volume that cannot be had is recorded at each try, with when the next one comes', async () => {
  const { clock, decisions, failing, manager } = setUp();
  failing.set('cache', 'no space');
  for (let tries = 0; tries < 3; tries++) {
    await assert.rejects(manager.mount(using(cache), never), /no space/);
    // Before its time it is not tried again.
    await assert.rejects(manager.mount(using(cache), never), /no space/);
    await clock.advance(500 * 2 ** tries);
  }
  assert.deepEqual(
    decisions.entries.map(({ decision: { kind, reason, inputs, nextTryInMs } }) => [kind, reason, inputs, nextTryInMs]),
    [500, 1_000, 2_000].map((ms, index) => [
      'retry',
      'FailedMount',
      { volume: 'cache', kind: 'kubernetes.io/empty-dir', failures: index + 1 },
      ms,
    ]),
  );
});

describe('memory of a pod', () => {
  test('ends with the pod, and no timer of it wakes anyone', async () => {
    const { manager, clock, failing, woken } = setUp();
    failing.set('cache', 'no room');
    const pod = using(cache);
    await assert.rejects(manager.mount(pod, never));
    assert.equal(manager.size(), 1);
    manager.forget(pod.uid);
    manager.forget(pod.uid);
    assert.equal(manager.size(), 0);
    await clock.advance(600_000);
    assert.deepEqual(woken, []);
  });

  test('is kept until what is under way has ended', async () => {
    const { manager, hanging } = setUp();
    const hung = hang();
    hanging.set('cache', hung);
    const pod = using(cache);
    const mounting = manager.mount(pod, never);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    manager.forget(pod.uid);
    assert.equal(manager.size(), 1);
    await assert.rejects(mounting);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    assert.equal(manager.size(), 0);
  });

  test('a teardown is counted until it ends', async () => {
    const { manager } = setUp();
    const pod = using(cache);
    await manager.mount(pod, never);
    const down = manager.unmount(pod);
    assert.equal(manager.teardownsUnderWay(), 1);
    await down;
    assert.deepEqual([manager.teardownsUnderWay(), manager.size()], [0, 0]);
  });
});
