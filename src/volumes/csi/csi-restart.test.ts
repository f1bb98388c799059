import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodUid } from '../../base/ids.ts';
import type { Volume } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { csiDriverName, csiWorld } from '../../testing/csi-world.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { attachableName, stagingPlace } from './volume-names.ts';

const never = new AbortController().signal;
const handle = 'handle-data';
const staging = stagingPlace('/k', { driver: csiDriverName, handle });
const folder = '/k/pods/uid-1/volumes/kubernetes.io~csi/pv-data';
const data: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
const inline: Volume = { name: 'scratch', csi: { driver: csiDriverName } };

const using = (volume: Volume, uid = 'uid-1'): DesiredPod =>
  aPod({
    uid,
    spec: {
      volumes: [volume],
      securityContext: { fsGroup: 7 },
      containers: [aContainer('main', { volumeMounts: [{ name: volume.name, mountPath: '/v' }] })],
    },
  });

type World = ReturnType<typeof csiWorld>;
const isClean = ({ driver, files, remains, broken }: World, when = ''): void =>
  assert.deepEqual([driver.volumes.inUse(), remains(), [...files.mounts.keys()], broken], [[], [], [], []], when);
const isIntact = ({ files }: World): Promise<void> =>
  files.readText('/csi/precious').then((text) => assert.equal(text, 'data'));

const kinds = [
  { what: 'a claim', volume: data, world: () => csiWorld() },
  { what: 'a claim to a driver that does not stage', volume: data, world: () => csiWorld({ capabilities: [] }) },
  {
    what: 'an inline volume',
    volume: inline,
    world: () => csiWorld({ object: { podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] } }),
  },
];

for (const { what, volume, world } of kinds) {
  // One that finds the pod again goes on with it; one that does not tears down what it finds.
  for (const comesBack of [false, true]) {
    test(`${what}: an agent killed after any step loses nothing; the pod ${comesBack ? 'comes back' : 'is removed'}`, async () => {
      let steps = 0;
      for (let killed = true; killed; steps++) {
        const each = world();
        each.claim('data');
        const pod = using(volume);
        let left = steps;
        each.files.fault = () => {
          if (left-- <= 0) throw new Error('killed');
        };
        const life = async (): Promise<void> => {
          const agent = each.manager();
          await agent.mount(pod, never);
          await agent.unmount(pod);
        };
        killed = await life().then(
          () => false,
          () => true,
        );
        await isIntact(each);
        each.files.fault = () => {};
        const service = each.volumes();
        await service.start();
        const next = each.manager(service);
        if (comesBack) {
          await next.mount(pod, never);
          const { hostPath = '' } = next.mounted(pod.uid).get(volume.name) ?? {};
          assert.equal(await each.files.readText(`${hostPath}/precious`), 'data', `killed after ${steps} steps`);
        }
        await next.tearDown(pod.uid);
        isClean(each, `after ${steps} steps`);
        await isIntact(each);
      }
      assert.ok(steps > 8, `there were steps to be killed after: ${steps}`);
    });
  }
}

describe('a driver that is away while a pod goes', () => {
  test('is waited for, with all that is there, and reported', async () => {
    const world = csiWorld();
    world.claim('data');
    const agent = world.manager();
    await agent.mount(using(data), never);
    const before = world.remains();
    world.state.away = true;
    await assert.rejects(agent.tearDown('uid-1' as PodUid), {
      message:
        'UnmountVolume.TearDown failed for volume "pv-data" of pod uid-1: kubernetes.io/csi: ' +
        'Unmounter.TearDownAt failed to get CSI client: ' +
        `driver name ${csiDriverName} not found in the list of registered CSI drivers`,
    });
    assert.deepEqual(world.remains(), before);
    await isIntact(world);
    world.state.away = false;
    await agent.tearDown('uid-1' as PodUid);
    isClean(world);
  });

  for (const verb of ['nodeUnpublishVolume', 'nodeUnstageVolume'] as const) {
    test(`and fails at ${verb}: the record stays until it is done`, async () => {
      const world = csiWorld();
      world.claim('data');
      const agent = world.manager();
      await agent.mount(using(data), never);
      world.driver.fail(verb, { code: 'UNAVAILABLE', details: 'gone' });
      await assert.rejects(agent.tearDown('uid-1' as PodUid), /code = Unavailable desc = gone/);
      assert.ok(world.files.has(`${folder}/vol_data.json`));
      await world.manager().tearDown('uid-1' as PodUid);
      isClean(world);
    });
  }

  test('does not know the volume any more: where nothing is mounted, nothing is to be done', async () => {
    const world = csiWorld();
    world.claim('data');
    const agent = world.manager();
    await agent.mount(using(data), never);
    world.driver.volumes.remove(handle);
    await assert.rejects(agent.tearDown('uid-1' as PodUid), /code = NotFound/);
    await isIntact(world);
    world.files.mounts.clear();
    world.files.forget(`${folder}/mount`);
    await agent.tearDown('uid-1' as PodUid);
    isClean(world);
  });

  test('reports a volume as unpublished that it left mounted: it is unmounted, with nothing lost', async () => {
    const world = csiWorld();
    world.claim('data');
    const agent = world.manager();
    await agent.mount(using(data), never);
    const targets = world.driver.volumes.get(handle)?.published;
    targets?.clear();
    world.files.mounts.set(`${folder}/mount`, ['bind /csi']);
    await agent.tearDown('uid-1' as PodUid);
    await isIntact(world);
    isClean(world);
  });

  test('reports a volume as unpublished although something is mounted below: nothing is unmounted or removed', async () => {
    const world = csiWorld();
    world.claim('data');
    const agent = world.manager();
    await agent.mount(using(data), never);
    world.files.mounts.set(`${folder}/mount/below`, ['bind /csi']);
    await assert.rejects(agent.tearDown('uid-1' as PodUid), /is still mounted, although driver .* that it is not$/);
    await isIntact(world);
    assert.ok(world.files.has(`${folder}/vol_data.json`));
  });
});

describe('vol_data.json', () => {
  for (const [how, spoil] of [
    ['missing', (world: World) => world.files.forget(`${folder}/vol_data.json`)],
    [
      'half written',
      (world: World) => world.files.entries.set(`${folder}/vol_data.json`, { content: '{"dri', mode: 0 }),
    ],
  ] as const) {
    test(`that is ${how}: what is mounted stays, and the error says what to do`, async () => {
      const world = csiWorld();
      world.claim('data');
      await world.manager().mount(using(data), never);
      spoil(world);
      const agent = world.manager();
      await assert.rejects(agent.tearDown('uid-1' as PodUid), (error: Error) => {
        assert.match(error.message, /vol_data\.json is (missing|broken: it is not JSON)/);
        assert.ok(error.message.includes(`Unmount it by hand (umount ${folder}/mount)`));
        return true;
      });
      await isIntact(world);
      assert.deepEqual(world.driver.volumes.inUse(), [handle]);
      // The operator did.
      world.driver.volumes.handle('nodeUnpublishVolume', { volumeId: handle, targetPath: `${folder}/mount` });
      world.files.mounts.clear();
      await agent.tearDown('uid-1' as PodUid);
      const next = world.volumes();
      await next.start();
      await next.cleanUp();
      isClean(world);
    });

    test(`that is ${how}: a pod that comes back repairs it`, async () => {
      const world = csiWorld();
      world.claim('data');
      await world.manager().mount(using(data), never);
      spoil(world);
      const agent = world.manager();
      await agent.mount(using(data), never);
      await agent.unmount(using(data));
      isClean(world);
    });
  }

  test('of another pod that cannot be read keeps the volume staged', async () => {
    const world = csiWorld();
    world.claim('data');
    const agent = world.manager();
    await agent.mount(using(data), never);
    await agent.mount(using(data, 'uid-2'), never);
    world.files.forget('/k/pods/uid-2/volumes/kubernetes.io~csi/pv-data/vol_data.json');
    await agent.unmount(using(data));
    assert.notEqual(world.driver.volumes.get(handle)?.staged, undefined);
  });

  test('missing, with files where nothing is mounted: they stay', async () => {
    const world = csiWorld();
    world.files.append(`${folder}/mount/written`, 'by a user');
    await assert.rejects(world.manager().tearDown('uid-1' as PodUid), /is not empty\. Save what is in it/);
    assert.equal(await world.files.readText(`${folder}/mount/written`), 'by a user');
  });
});

describe('after a start', () => {
  /** Staged, and the pod’s folder is removed. */
  const leftBehind = async (): Promise<World> => {
    const world = csiWorld({ object: null });
    world.claim('data');
    world.attach('data');
    await world.manager().mount(using(data), never);
    world.driver.volumes.handle('nodeUnpublishVolume', { volumeId: handle, targetPath: `${folder}/mount` });
    world.files.mounts.clear();
    world.files.forget('/k/pods');
    return world;
  };

  test('what is staged for no pod is unstaged, and in use until then', async () => {
    const world = await leftBehind();
    const service = world.volumes();
    assert.equal(service.inUse(), undefined);
    world.state.away = true;
    await service.start();
    await service.cleanUp();
    assert.deepEqual(service.inUse(), [attachableName({ driver: csiDriverName, handle })]);
    assert.deepEqual(world.driver.volumes.inUse(), [handle]);
    world.state.away = false;
    await service.cleanUp('another.example.com');
    assert.deepEqual(world.driver.volumes.inUse(), [handle]);
    await service.cleanUp(csiDriverName);
    assert.deepEqual(service.inUse(), []);
    isClean(world);
  });

  test('one that cannot be unstaged is reported, and stays', async () => {
    const world = await leftBehind();
    world.driver.fail('nodeUnstageVolume', { code: 'INTERNAL', details: 'busy', times: 9 });
    const service = world.volumes();
    await service.cleanUp();
    assert.ok(world.log.messages().includes('Staged volume that no pod uses stays'));
    assert.ok(world.files.has(staging.data));
  });

  test('what pods have is in use before they come, and stays', async () => {
    const world = csiWorld({ object: null });
    world.claim('data');
    world.attach('data');
    await world.manager().mount(using(data), never);
    const service = world.volumes();
    await service.start();
    await service.cleanUp();
    assert.deepEqual(service.inUse(), [attachableName({ driver: csiDriverName, handle })]);
    const agent = world.manager(service);
    await agent.tearDown('uid-1' as PodUid);
    assert.deepEqual(service.inUse(), []);
    isClean(world);
  });

  test('a staging folder without a readable record is removed when it is empty, and left when it is not', async () => {
    const world = csiWorld();
    const other = stagingPlace('/k', { driver: csiDriverName, handle: 'other' });
    await world.files.makeFolder(staging.target, 0o750);
    await world.files.makeFolder(other.target, 0o750);
    world.files.mounts.set(other.target, ['bind /csi']);
    const service = world.volumes();
    await service.start();
    assert.deepEqual([world.files.has(staging.folder), world.files.has(other.target)], [false, true]);
    assert.ok(world.log.messages().includes('Staged volume without a readable record stays'));
    await isIntact(world);
  });
});
