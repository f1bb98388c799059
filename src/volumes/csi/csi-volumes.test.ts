import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NodePublishVolumeRequest, NodeStageVolumeRequest } from '../../gen/csi/v1.ts';
import type { PodSpec, Volume } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { csiDriverName, csiWorld } from '../../testing/csi-world.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { attachableName, attachmentName, stagingPlace } from './volume-names.ts';

const never = new AbortController().signal;
const handle = 'handle-data';
const staging = stagingPlace('/k', { driver: csiDriverName, handle });
const folderOf = (uid: string, name = 'pv-data'): string => `/k/pods/${uid}/volumes/kubernetes.io~csi/${name}`;
const inline: Volume = { name: 'scratch', csi: { driver: csiDriverName, volumeAttributes: { size: '1' } } };

const using = (volumes: readonly Volume[], spec: Partial<PodSpec> = {}, uid = 'uid-1'): DesiredPod =>
  aPod({
    uid,
    name: `pod-${uid}`,
    spec: {
      volumes,
      containers: [aContainer('main', { volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) })],
      ...spec,
    },
  });

type World = ReturnType<typeof csiWorld>;
const requests = ({ driver }: World, verb: string): readonly unknown[] =>
  driver.calls.filter((call) => call.verb === verb).map(({ request }) => request);
const published = (world: World) => requests(world, 'nodePublishVolume') as readonly NodePublishVolumeRequest[];
const staged = (world: World) => requests(world, 'nodeStageVolume') as readonly NodeStageVolumeRequest[];
const isClean = ({ driver, files, remains, broken }: World): void =>
  assert.deepEqual([driver.volumes.inUse(), remains(), [...files.mounts.keys()], broken], [[], [], [], []]);

describe('a claim to a volume of a driver', () => {
  test('is staged once, published to each pod, and torn down after the last', async () => {
    const world = csiWorld();
    const { claim, driver, files, manager } = world;
    const agent = manager();
    const data = claim('data');
    const [one, other] = [using([data]), using([data], {}, 'uid-2')];
    await Promise.all([agent.mount(one, never), agent.mount(other, never)]);
    const target = `${folderOf('uid-1')}/mount`;
    assert.deepEqual(agent.mounted(one.uid).get('data'), {
      hostPath: target,
      driver: { name: csiDriverName, volumeHandle: handle, volumePath: target },
      selinuxRelabel: true,
      innerName: 'pv-data',
    });
    assert.equal(await files.readText(`${target}/precious`), 'data');
    assert.deepEqual([staged(world).length, published(world).length], [1, 2]);
    const attachment = attachmentName({ driver: csiDriverName, handle }, 'node-1');
    assert.deepEqual(JSON.parse(await files.readText(`${folderOf('uid-1')}/vol_data.json`)), {
      specVolID: 'pv-data',
      volumeHandle: handle,
      driverName: csiDriverName,
      nodeName: 'node-1',
      attachmentID: attachment,
      volumeLifecycleMode: 'Persistent',
    });
    assert.deepEqual(JSON.parse(await files.readText(staging.data)), {
      volumeHandle: handle,
      driverName: csiDriverName,
    });
    assert.equal(files.entries.get(folderOf('uid-1'))?.mode, 0o750);
    driver.taken();
    await agent.unmount(one);
    assert.deepEqual(driver.taken(), ['nodeUnpublishVolume']);
    await agent.unmount(other);
    assert.deepEqual(driver.taken(), ['nodeUnpublishVolume', 'nodeUnstageVolume']);
    isClean(world);
    assert.equal(await files.readText('/csi/precious'), 'data');
  });

  test('is the subject of one call at a time, whichever pods it is for', async () => {
    const world = csiWorld();
    const { claim, driver, manager } = world;
    const agent = manager();
    const data = claim('data');
    const [one, other] = [using([data]), using([data], {}, 'uid-2')];
    let release = driver.hang('nodePublishVolume');
    const asked = driver.asked('nodePublishVolume');
    const mounting = Promise.all([agent.mount(one, never), agent.mount(other, never)]);
    await asked;
    await world.clock.advance(0);
    assert.equal(published(world).length, 1);
    release();
    await mounting;
    assert.equal(published(world).length, 2);

    release = driver.hang('nodeUnpublishVolume');
    driver.taken();
    const unmounting = Promise.all([agent.unmount(one), agent.unmount(other)]);
    await world.clock.advance(0);
    assert.deepEqual(driver.taken(), ['nodeUnpublishVolume']);
    release();
    await unmounting;
    isClean(world);
  });

  test('waits for its attachment, and hands on its metadata', async () => {
    const world = csiWorld({ object: null });
    const { attach, attachments, claim, manager, driver } = world;
    const agent = manager();
    const pod = using([claim('data')]);
    const mounting = agent.mount(pod, never);
    await new Promise(setImmediate);
    assert.deepEqual(agent.attachable(), [attachableName({ driver: csiDriverName, handle })]);
    assert.deepEqual(driver.taken(), []);
    attach('data', { attached: true, attachmentMetadata: { device: '/dev/x' } });
    attachments.changed();
    await mounting;
    for (const { publishContext } of [...staged(world), ...published(world)]) {
      assert.deepEqual(publishContext, { device: '/dev/x' });
    }
  });

  test('passes what the driver requires: secrets, pod info, tokens, options', async () => {
    const world = csiWorld({
      object: { attachRequired: false, podInfoOnMount: true, tokenRequests: [{ audience: 'vault' }] },
      capabilities: ['STAGE_UNSTAGE_VOLUME', 'VOLUME_MOUNT_GROUP'],
    });
    const { claim, manager, state, files } = world;
    state.secrets.set('n/stage', { key: 's' }).set('n/publish', { key: 'p' });
    const refs = {
      nodeStageSecretRef: { namespace: 'n', name: 'stage' },
      nodePublishSecretRef: { namespace: 'n', name: 'publish' },
    };
    const data = claim('data', { ...refs, volumeAttributes: { a: 'b' } }, { mountOptions: ['noatime'] });
    await manager().mount(using([data], { securityContext: { fsGroup: 7 } }), never);
    const mount = { fsType: 'ext4', mountFlags: ['noatime'], volumeMountGroup: '7' };
    const [stage] = staged(world);
    assert.deepEqual([stage?.secrets, stage?.volumeContext], [{ key: 's' }, { a: 'b' }]);
    assert.deepEqual(stage?.volumeCapability?.mount, mount);
    const [publish] = published(world);
    assert.deepEqual([publish?.secrets, publish?.volumeCapability?.mount], [{ key: 'p' }, mount]);
    assert.equal(publish?.volumeContext['csi.storage.k8s.io/pod.name'], 'pod-uid-1');
    assert.match(publish?.volumeContext['csi.storage.k8s.io/serviceAccount.tokens'] ?? '', /^\{"vault":\{"token":/);
    assert.equal(files.entries.get('/csi')?.gid, undefined, 'the driver sees to the group');
  });

  test('is given to the group of the pod by the agent where the driver does not do it', async () => {
    const { claim, manager, files } = csiWorld();
    await manager().mount(using([claim('data')], { securityContext: { fsGroup: 7 } }), never);
    assert.deepEqual([files.entries.get('/csi')?.gid, files.entries.get('/csi/precious')?.gid], [7, 7]);
  });

  test('is mounted with the label of the pod where the driver can, and not relabelled', async () => {
    const world = csiWorld({ object: { attachRequired: false, seLinuxMount: true }, hasSeLinux: true });
    const { claim, manager, files } = world;
    const agent = manager();
    const data = claim('data', {}, { accessModes: ['ReadWriteOncePod'] });
    const pod = using([data], { securityContext: { seLinuxOptions: { level: 's0:c1,c2' } } });
    await agent.mount(pod, never);
    const label = 'system_u:object_r:container_file_t:s0:c1,c2';
    assert.deepEqual(published(world)[0]?.volumeCapability?.mount?.mountFlags, [`context="${label}"`]);
    assert.equal(JSON.parse(await files.readText(staging.data)).seLinuxMountContext, label);
    assert.equal(agent.mounted(pod.uid).get('data')?.selinuxRelabel, undefined);
  });

  test('of a driver that does not stage is only published', async () => {
    const world = csiWorld({ capabilities: [] });
    const { claim, manager, driver } = world;
    const agent = manager();
    const pod = using([claim('data')]);
    await agent.mount(pod, never);
    assert.deepEqual([staged(world), published(world)[0]?.stagingTargetPath], [[], '']);
    driver.taken();
    await agent.unmount(pod);
    assert.ok(!driver.taken().includes('nodeUnstageVolume'));
    isClean(world);
  });

  test('twice in one pod is published once', async () => {
    const world = csiWorld();
    const { claim, manager } = world;
    const data = claim('data');
    await manager().mount(using([data, { ...data, name: 'again' }]), never);
    assert.equal(published(world).length, 1);
  });
});

describe('an inline volume', () => {
  const object = { attachRequired: true, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'] };

  test('is published and nothing else', async () => {
    const world = csiWorld({ object });
    const agent = world.manager();
    const pod = using([inline]);
    await agent.mount(pod, never);
    assert.equal(published(world)[0]?.volumeContext['size'], '1');
    assert.equal(staged(world).length, 0);
    assert.deepEqual(agent.attachable(), []);
    await agent.unmount(pod);
    isClean(world);
  });

  test('is refused where the cluster does not know the driver for it', async () => {
    const { manager, events } = csiWorld({ object: null });
    await assert.rejects(manager().mount(using([inline]), never));
    assert.deepEqual(events, [
      'FailedMount: MountVolume.NewMounter initialization failed for volume "scratch" : ' +
        `volume mode "Ephemeral" not supported by driver ${csiDriverName} (no CSIDriver object)`,
    ]);
  });

  test('is allowed on a node without a cluster', async () => {
    const world = csiWorld({ cluster: false });
    const agent = world.manager();
    await agent.mount(using([inline]), never);
    // Without a CSIDriver object the driver gets the pod's info.
    assert.equal(published(world)[0]?.volumeContext['csi.storage.k8s.io/ephemeral'], 'true');
    await agent.unmount(using([inline]));
    isClean(world);
  });
});

describe('what goes wrong', () => {
  const failed = async (world: World, pod: DesiredPod): Promise<string> => {
    const agent = world.manager();
    await assert.rejects(agent.mount(pod, never));
    return world.events.at(-1) ?? '';
  };

  test('a missing driver fails with upstream’s message', async () => {
    const world = csiWorld();
    world.state.away = true;
    const away = `driver name ${csiDriverName} not found in the list of registered CSI drivers`;
    assert.equal(
      await failed(world, using([world.claim('data')])),
      'FailedMount: MountVolume.MountDevice failed for volume "pv-data" : ' +
        `kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: ${away}`,
    );
    world.state.object = { volumeLifecycleModes: ['Ephemeral'] };
    assert.equal(
      await failed(world, using([inline])),
      'FailedMount: MountVolume.SetUp failed for volume "scratch" : ' +
        `kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: ${away}`,
    );
    isClean(world);
  });

  test('a driver that comes is used at once', async () => {
    const world = csiWorld();
    const agent = world.manager();
    const pod = using([world.claim('data')]);
    world.state.away = true;
    for (let round = 0; round < 6; round++) {
      await assert.rejects(agent.mount(pod, never));
      await world.clock.advance(60_000);
    }
    await assert.rejects(agent.mount(pod, never));
    world.state.away = false;
    await assert.rejects(agent.mount(pod, never), 'its time has not come');
    world.woken.length = 0;
    agent.retry('kubernetes.io/csi');
    assert.deepEqual(world.woken, ['uid-1']);
    await agent.mount(pod, never);
  });

  test('waits until the CSIDriver objects are synced', async () => {
    const world = csiWorld({ object: null });
    world.state.synced = false;
    const agent = world.manager();
    const pod = using([world.claim('data')]);
    await assert.rejects(agent.mount(pod, never), /CSIDrivers has not been synced yet/);
    isClean(world);
    world.state.synced = true;
    world.attach('data');
    agent.retry('kubernetes.io/csi');
    await agent.mount(pod, never);
  });

  test('a secret that cannot be had leaves nothing', async () => {
    const world = csiWorld();
    const data = world.claim('data', { nodeStageSecretRef: { namespace: 'n', name: 'gone' } });
    assert.equal(
      await failed(world, using([data])),
      'FailedMount: MountVolume.MountDevice failed for volume "pv-data" : ' +
        'fetching NodeStageSecretRef n/gone failed: secrets "gone" not found',
    );
    isClean(world);
  });

  for (const [verb, step] of [
    ['nodeStageVolume', 'MountVolume.MountDevice failed'],
    ['nodePublishVolume', 'MountVolume.SetUp failed'],
  ] as const) {
    test(`a final error at ${verb} leaves nothing that needs the driver to be removed`, async () => {
      const world = csiWorld(verb === 'nodePublishVolume' ? { capabilities: [] } : {});
      world.driver.fail(verb, { code: 'INVALID_ARGUMENT', details: 'no such thing' });
      assert.equal(
        await failed(world, using([world.claim('data')])),
        `FailedMount: ${step} for volume "pv-data" : rpc error: code = InvalidArgument desc = no such thing`,
      );
      isClean(world);
    });

    test(`an uncertain answer to ${verb} is torn down later, with what it may have made`, async () => {
      const world = csiWorld();
      const pod = using([world.claim('data')]);
      world.driver.fail(verb, { code: 'DEADLINE_EXCEEDED', afterwards: true });
      const agent = world.manager();
      await assert.rejects(agent.mount(pod, never));
      assert.deepEqual(world.driver.volumes.inUse(), [handle]);
      assert.ok(world.files.has(`${folderOf('uid-1')}/vol_data.json`));
      await agent.unmount(pod);
      isClean(world);
    });
  }

  test('a final error at publish keeps what is staged for the next try, or for tearDown', async () => {
    const world = csiWorld();
    const pod = using([world.claim('data')]);
    world.driver.fail('nodePublishVolume', { code: 'INTERNAL' });
    const agent = world.manager();
    await assert.rejects(agent.mount(pod, never));
    assert.deepEqual(world.driver.volumes.inUse(), [handle]);
    await agent.unmount(pod);
    isClean(world);
  });

  test('a driver that hangs delays its own volume and no other, and is aborted with the pod', async () => {
    const world = csiWorld();
    const agent = world.manager();
    const [data, other] = [world.claim('data'), world.claim('other')];
    await agent.mount(using([other], {}, 'uid-2'), never);
    world.driver.hang('nodeStageVolume');
    const asked = world.driver.asked('nodeStageVolume');
    const hung = assert.rejects(agent.mount(using([data]), never));
    await asked;
    await agent.mount(using([other], {}, 'uid-3'), never);
    await agent.unmount(using([], {}, 'uid-2'));
    await agent.unmount(using([data]));
    await hung;
    await agent.unmount(using([], {}, 'uid-3'));
    isClean(world);
  });

  test('another volume in the place of one that was not torn down is refused', async () => {
    const world = csiWorld();
    const pod = using([world.claim('data')]);
    await world.manager().mount(pod, never);
    world.claim('data', { volumeHandle: 'another' });
    assert.match(await failed(world, pod), /still has the volume handle-data of the driver .* torn down first/);
    assert.deepEqual(world.driver.volumes.inUse(), [handle]);
  });
});

describe('a driver that wants volumes published again', () => {
  const object = { attachRequired: false, requiresRepublish: true, tokenRequests: [{ audience: '' }] };
  const tokens = (world: World) =>
    published(world).map(
      ({ volumeContext }) => /token-\d/.exec(volumeContext['csi.storage.k8s.io/serviceAccount.tokens'] ?? '')?.[0],
    );

  test('gets them at syncs of the pod, once a minute at most, with new tokens', async () => {
    const world = csiWorld({ object });
    const agent = world.manager();
    const pod = using([world.claim('data')]);
    await agent.mount(pod, never);
    await agent.mount(pod, never);
    await world.clock.advance(59_999);
    await agent.mount(pod, never);
    assert.deepEqual([tokens(world), world.woken], [['token-1'], []]);
    await world.clock.advance(1);
    assert.deepEqual(world.woken, ['uid-1'], 'it is woken by itself');
    await agent.mount(pod, never);
    assert.deepEqual([tokens(world), staged(world).length], [['token-1', 'token-2'], 1]);
  });

  test('and refuses: the pod keeps what it has, with an event', async () => {
    const world = csiWorld({ object });
    const agent = world.manager();
    const pod = using([world.claim('data')]);
    await agent.mount(pod, never);
    await world.clock.advance(60_000);
    world.driver.fail('nodePublishVolume', { code: 'INVALID_ARGUMENT', details: 'bad token' });
    await agent.mount(pod, never);
    assert.match(world.events.at(-1) ?? '', /MountVolume.SetUp failed .* bad token$/);
    assert.ok(world.files.mounts.has(`${folderOf('uid-1')}/mount`));
    await agent.mount(pod, never);
    assert.equal(published(world).length, 2, 'not again before its time');
    await world.clock.advance(500);
    await agent.mount(pod, never);
    assert.equal(published(world).length, 3);
    await agent.unmount(pod);
    isClean(world);
  });
});
