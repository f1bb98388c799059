import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Volume } from '../gen/kubernetes/types.ts';
import { aPod } from '../testing/pods.ts';
import type { VolumePlugin } from './ports.ts';
import { VolumeManager } from './volume-manager.ts';

const never = new AbortController().signal;

/** A plugin for emptyDir and one for hostPath that only write down what they are asked. */
function setUp() {
  const calls: string[] = [];
  const failing = new Set<string>();
  const plugin = (kind: 'emptyDir' | 'hostPath'): VolumePlugin => ({
    handles: (volume) => volume[kind] !== undefined,
    async setUp(uid, { name }) {
      calls.push(`up ${kind} ${uid} ${name}`);
      if (failing.has(name)) throw new Error(`${name} cannot be made`);
      return { hostPath: `/${kind}/${name}` };
    },
    async tearDown(uid, { name }) {
      calls.push(`down ${kind} ${uid} ${name}`);
      if (failing.has(name)) throw new Error(`${name} is busy`);
    },
  });
  const manager = new VolumeManager({ plugins: [plugin('emptyDir'), plugin('hostPath')] });
  return { calls, failing, manager };
}

const withVolumes = (...volumes: Volume[]) => aPod({ spec: { volumes } });
const cache: Volume = { name: 'cache', emptyDir: {} };
const etc: Volume = { name: 'etc', hostPath: { path: '/etc' } };
const pod = withVolumes(cache, etc);

describe('mount', () => {
  test('every volume by its own kind, in the order of the spec', async () => {
    const { calls, manager } = setUp();
    await manager.mount(pod, never);
    assert.deepEqual(calls, ['up emptyDir uid-1 cache', 'up hostPath uid-1 etc']);
    assert.deepEqual(Object.fromEntries(manager.mounted(pod.uid)), {
      cache: { hostPath: '/emptyDir/cache' },
      etc: { hostPath: '/hostPath/etc' },
    });
  });

  test('is done once', async () => {
    const { calls, manager } = setUp();
    await manager.mount(pod, never);
    await manager.mount(pod, never);
    assert.equal(calls.length, 2);
  });

  test('a pod without volumes has none', async () => {
    const { calls, manager } = setUp();
    await manager.mount(aPod(), never);
    assert.deepEqual([calls, manager.mounted(aPod().uid).size], [[], 0]);
  });

  test('one that fails: nothing counts as mounted, and all is tried again', async () => {
    const { calls, failing, manager } = setUp();
    failing.add('etc');
    await assert.rejects(manager.mount(pod, never), {
      kind: 'internal',
      message: 'MountVolume.SetUp failed for volume "etc" : etc cannot be made',
    });
    assert.equal(manager.mounted(pod.uid).size, 0);
    failing.clear();
    await manager.mount(pod, never);
    assert.equal(manager.mounted(pod.uid).size, 2);
    assert.equal(calls.length, 4);
  });

  test('an abort stops between volumes', async () => {
    const { calls, manager } = setUp();
    const gaveUp = new AbortController();
    gaveUp.abort(new Error('enough'));
    await assert.rejects(manager.mount(pod, gaveUp.signal), /enough/);
    assert.deepEqual(calls, []);
  });
});

describe('kinds that cannot be mounted', () => {
  const table: readonly (readonly [Volume, string])[] = [
    [{ name: 'cfg', configMap: { name: 'cm' } }, 'configMap'],
    [{ name: 'key', secret: { secretName: 's' } }, 'secret'],
    [{ name: 'bare' }, 'none'],
  ];
  for (const [volume, kind] of table) {
    test(`${kind} is refused by name, before anything is made`, async () => {
      const { calls, manager } = setUp();
      await assert.rejects(manager.mount(withVolumes(cache, volume), never), {
        kind: 'unsupported',
        message: `Unable to attach or mount volumes: volume "${volume.name}" is of a kind that this version cannot mount: ${kind}`,
      });
      assert.deepEqual(calls, []);
    });
  }

  test('a variant of a kind is named too', async () => {
    const manager = new VolumeManager({ plugins: [] });
    const why = async (volume: Volume): Promise<string> => {
      const failure: unknown = await manager.mount(withVolumes(volume), never).then(
        () => undefined,
        (error: unknown) => error,
      );
      return failure instanceof Error ? failure.message.replace(/^.*: /, '') : 'mounted';
    };
    assert.equal(await why({ name: 'ram', emptyDir: { medium: 'Memory' } }), 'emptyDir (Memory)');
    assert.equal(await why({ name: 'sock', hostPath: { path: '/run/x', type: 'Socket' } }), 'hostPath (Socket)');
  });

  test('unmounting a pod with one is fine', async () => {
    const { calls, manager } = setUp();
    await manager.unmount(withVolumes({ name: 'cfg', configMap: { name: 'cm' } }, cache));
    assert.deepEqual(calls, ['down emptyDir uid-1 cache']);
  });
});

describe('unmount', () => {
  test('takes all down, also what never came up, and can be repeated', async () => {
    const { calls, manager } = setUp();
    await manager.mount(pod, never);
    await manager.unmount(pod);
    assert.equal(manager.mounted(pod.uid).size, 0);
    await manager.unmount(pod);
    assert.deepEqual(calls.slice(2), [
      'down emptyDir uid-1 cache',
      'down hostPath uid-1 etc',
      'down emptyDir uid-1 cache',
      'down hostPath uid-1 etc',
    ]);
  });

  test('one that is busy keeps the pod’s volumes on record', async () => {
    const { failing, manager } = setUp();
    await manager.mount(pod, never);
    failing.add('cache');
    await assert.rejects(manager.unmount(pod), /cache is busy/);
    assert.equal(manager.mounted(pod.uid).size, 2);
  });

  test('afterwards the pod can come back', async () => {
    const { calls, manager } = setUp();
    await manager.mount(pod, never);
    await manager.unmount(pod);
    await manager.mount(pod, never);
    assert.equal(calls.filter((call) => call.startsWith('up')).length, 4);
  });
});
