import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noCalls } from '../../base/calls.ts';
import { TubeletError } from '../../base/errors.ts';
import { podUid } from '../../base/ids.ts';
import type { NodePublishVolumeRequest, NodeStageVolumeRequest } from '../../gen/csi/v1.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { FakeCsiDriver, type FakeCsiDriverOptions } from '../../testing/fake-csi-driver.ts';
import { MemoryBlockDevices, memoryTargets } from '../../testing/memory-block-devices.ts';
import { MemoryFiles } from '../../testing/memory-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aClaimedVolume } from '../../testing/persistent-volumes.ts';
import { aPod } from '../../testing/pods.ts';
import type { VolumeRequest } from '../ports.ts';
import { reportedFailure } from '../volume-failures.ts';
import { CsiBlockVolumes, type CsiBlockVolumesDeps } from './block-volumes.ts';
import { DriverClient } from './driver-client.ts';
import { notRegistered } from './driver-errors.ts';

const never = new AbortController().signal;
const root = '/var/lib/kubelet';
const top = `${root}/plugins/kubernetes.io/csi/volumeDevices`;
const link = (uid: string): string => `${root}/pods/${uid}/volumeDevices/kubernetes.io~csi/pv-data`;

function setUp(options: FakeCsiDriverOptions = {}) {
  const clock = new FakeClock();
  const files = new MemoryFiles();
  const driver = new FakeCsiDriver({ name: 'd', clock, targets: memoryTargets(files), ...options });
  const client = new DriverClient({
    calls: noCalls,
    clock,
    open: driver.open,
    called: () => {},
    name: 'd',
    endpoint: '/d.sock',
  });
  const devices = new MemoryBlockDevices(files);
  const deps: CsiBlockVolumesDeps = {
    log: new MemoryLog(),
    files,
    mounts: { atOrBelow: async (path) => files.mountsBelow(path) },
    devices,
    podPaths: podPaths(root, '/var/log/pods'),
    rootDir: root,
    nodeName: 'node-1',
    drivers: { find: () => client },
    secrets: { get: async (namespace, name) => ({ key: `${namespace}/${name}` }) },
    cluster: {
      objects: { get: () => undefined },
      attachments: { wait: async () => ({ lun: '7' }) },
    },
  };
  const request = (uid = 'uid-1', more: { name?: string; readOnly?: boolean } = {}): VolumeRequest => ({
    pod: aPod({ uid, spec: { nodeName: 'node-1', containers: [] } }),
    volume: { name: 'v', persistentVolumeClaim: { claimName: 'data' } },
    claimed: aClaimedVolume(
      {
        kind: 'csi',
        csi: {
          driver: 'd',
          volumeHandle: 'h',
          volumeAttributes: { tier: 'gold' },
          nodeStageSecretRef: { namespace: 'ns', name: 'stage' },
          nodePublishSecretRef: { namespace: 'ns', name: 'publish' },
        },
      },
      { mode: 'Block', ...more },
    ),
  });
  const volumes = new CsiBlockVolumes(deps);
  return {
    files,
    driver,
    client,
    devices,
    deps,
    volumes,
    request,
    up: (uid = 'uid-1', by = volumes) => by.setUp(request(uid), never),
    down: (uid = 'uid-1', by = volumes) => by.tearDown({ uid: podUid(uid), name: 'pv-data' }),
    /** All that should be removed at the end. */
    left: () => [
      ...[...files.entries].flatMap(([path, { content, target }]) =>
        content !== undefined || target !== undefined || path.includes('pv-data') ? [path] : [],
      ),
      ...driver.volumes.inUse(),
      ...devices.held,
    ],
  };
}

describe('a device for a pod', () => {
  test('is made by the driver and shown by a link, with all that tearDown needs', async () => {
    const { driver, devices, files, up } = setUp();
    const published = `${top}/publish/pv-data/uid-1`;
    assert.deepEqual(await up(), {
      hostPath: link('uid-1'),
      driver: { name: 'd', volumeHandle: 'h', volumePath: published },
    });
    assert.deepEqual(
      files.listing(root).filter((line) => / [fl] /.test(line)),
      [
        `640 0:0 f plugins/kubernetes.io/csi/volumeDevices/publish/pv-data/uid-1`,
        `644 0:0 f plugins/kubernetes.io/csi/volumeDevices/pv-data/data/vol_data.json`,
        `777 0:0 l plugins/kubernetes.io/csi/volumeDevices/pv-data/dev/uid-1 -> ${published}`,
        `777 0:0 l pods/uid-1/volumeDevices/kubernetes.io~csi/pv-data -> ${published}`,
      ],
    );
    assert.deepEqual(JSON.parse(await files.readText(`${top}/pv-data/data/vol_data.json`)), {
      attachmentID: 'csi-340f466bc44236f151cf9ec99a074304032f747e4fb807897b4f4eee3caf9edf',
      driverName: 'd',
      nodeName: 'node-1',
      specVolID: 'pv-data',
      volumeHandle: 'h',
      volumeLifecycleMode: 'Persistent',
    });
    assert.deepEqual([...devices.held], [published]);
    const asked = <T>(verb: string): T => driver.calls.find((call) => call.verb === verb)?.request as T;
    const stage = asked<NodeStageVolumeRequest>('nodeStageVolume');
    assert.deepEqual(
      [stage.stagingTargetPath, stage.publishContext, stage.volumeContext, stage.secrets],
      [`${top}/staging/pv-data`, { lun: '7' }, { tier: 'gold' }, { key: 'ns/stage' }],
    );
    const publish = asked<NodePublishVolumeRequest>('nodePublishVolume');
    assert.deepEqual(
      [publish.targetPath, publish.stagingTargetPath, publish.readonly, publish.secrets],
      [published, `${top}/staging/pv-data`, false, { key: 'ns/publish' }],
    );
    assert.ok(stage.volumeCapability?.block !== undefined && publish.volumeCapability?.block !== undefined);
  });

  test('one that a pod may only read', async () => {
    const { driver, volumes, request } = setUp();
    assert.equal((await volumes.setUp(request('uid-1', { readOnly: true }), never)).readOnly, true);
    const asked = driver.calls.at(-1)?.request as NodePublishVolumeRequest | undefined;
    assert.equal(asked?.readonly, true);
  });

  test('is shared: staged once, and unstaged after the last', async () => {
    const { driver, up, down, left, volumes } = setUp();
    await volumes.start();
    await up('uid-1');
    await up('uid-2');
    await up('uid-1');
    assert.equal(driver.taken().filter((verb) => verb === 'nodeStageVolume').length, 1);
    assert.deepEqual(volumes.inUse(), ['kubernetes.io/csi/d^h']);
    await down('uid-1');
    await down('uid-1');
    assert.ok(!driver.taken().includes('nodeUnstageVolume'));
    assert.deepEqual(volumes.inUse(), ['kubernetes.io/csi/d^h']);
    await down('uid-2');
    assert.deepEqual(driver.taken(), ['nodeUnpublishVolume', 'nodeUnstageVolume']);
    assert.deepEqual([left(), volumes.inUse()], [[], []]);
  });

  test('a driver that does not stage is not asked to', async () => {
    const { driver, up, down, left } = setUp({ capabilities: [] });
    await up();
    await down();
    assert.deepEqual(driver.taken(), ['nodeGetCapabilities', 'nodePublishVolume', 'nodeUnpublishVolume']);
    assert.deepEqual(left(), []);
  });
});

describe('what goes wrong', () => {
  const failure = async (work: Promise<unknown>): Promise<string> => {
    const error: unknown = await work.then(
      () => new Error('fine'),
      (reason: unknown) => reason,
    );
    const { reason, error: shown } = reportedFailure('pv-data', error);
    return `${reason}: ${shown.message}`;
  };

  test('is reported with the step', async () => {
    const { driver, deps, up } = setUp();
    const said = (code: string): string => `rpc error: code = ${code} desc = no`;
    driver.fail('nodeStageVolume', { code: 'INTERNAL', details: 'no' });
    assert.equal(
      await failure(up()),
      `FailedMapVolume: MapVolume.SetUpDevice failed for volume "pv-data" : ${said('Internal')}`,
    );
    driver.fail('nodePublishVolume', { code: 'NOT_FOUND', details: 'no' });
    assert.equal(
      await failure(up()),
      `FailedMapVolume: MapVolume.MapPodDevice failed for volume "pv-data" : ${said('NotFound')}`,
    );
    const noDrivers = new CsiBlockVolumes({
      ...deps,
      drivers: {
        find: (name) => {
          throw notRegistered(name);
        },
      },
    });
    assert.equal(
      await failure(up('uid-1', noDrivers)),
      'FailedMapVolume: MapVolume.SetUpDevice failed for volume "pv-data" : driver name d not found in the list of registered CSI drivers',
    );
    const wait = async (): Promise<never> => Promise.reject(new TubeletError('unavailable', 'not yet'));
    const detached = new CsiBlockVolumes({
      ...deps,
      cluster: { objects: { get: () => undefined }, attachments: { wait } },
    });
    assert.equal(
      await failure(up('uid-1', detached)),
      'FailedMapVolume: MapVolume.WaitForAttach failed for volume "pv-data" : not yet',
    );
  });

  test('what is no device is not shown', async () => {
    const { up, deps, files } = setUp();
    const odd = new CsiBlockVolumes({ ...deps, devices: new MemoryBlockDevices(new MemoryFiles()) });
    await files.makeFolder('/x', 0o755);
    assert.match(await failure(up('uid-1', odd)), /MapVolume\.MapBlockVolume failed/);
  });

  test('a volume cannot have the name of a folder of all volumes', async () => {
    const { volumes, request, driver } = setUp();
    for (const name of ['staging', 'publish']) {
      assert.match(await failure(volumes.setUp(request('uid-1', { name }), never)), /no block volume can be called/);
    }
    assert.deepEqual(driver.taken(), []);
  });

  test('another volume under the same name must go first', async () => {
    const { up, files } = setUp();
    await up();
    const path = `${top}/pv-data/data/vol_data.json`;
    await files.writeFile(path, (await files.readText(path)).replace('"h"', '"other"'), 0o644);
    assert.match(await failure(up('uid-2')), /still has the volume other of the driver d/);
  });

  test('what is still mounted, or whose owner is unknown, stays', async () => {
    const { up, down, files, left } = setUp();
    await up();
    files.mounts.set(`${top}/publish/pv-data/uid-1`, ['bind /dev/sdx']);
    await assert.rejects(
      down(),
      /UnmapVolume\.UnmapPodDevice failed for volume "pv-data" of pod uid-1: .* is still mounted/,
    );
    files.mounts.clear();
    const path = `${top}/pv-data/data/vol_data.json`;
    const data = await files.readText(path);
    await files.removeTree(path);
    await assert.rejects(down(), /vol_data\.json cannot be read, and .*staging\/pv-data must be removed by hand/);
    await files.writeFile(path, data, 0o644);
    await down();
    assert.deepEqual(left(), []);
  });

  test('a driver that is away: what it has stays until it is back', async () => {
    const { up, down, driver, left } = setUp();
    await up();
    await driver.die();
    await assert.rejects(down(), { kind: 'unavailable' });
    driver.revive();
    await down();
    assert.deepEqual(left(), []);
  });
});

test('after a restart all that is in use is known, and what pods without a directory had is torn down', async () => {
  const { deps, driver, files, up, left } = setUp();
  await up('uid-1');
  await up('uid-2');
  files.forget(`${root}/pods/uid-2`);
  const next = new CsiBlockVolumes(deps);
  assert.equal(next.inUse(), undefined);
  await next.start();
  assert.deepEqual(next.inUse(), ['kubernetes.io/csi/d^h']);
  await next.cleanUp('another');
  assert.equal(driver.volumes.get('h')?.published.size, 2);
  await next.cleanUp();
  assert.deepEqual([...(driver.volumes.get('h')?.published.keys() ?? [])], [`${top}/publish/pv-data/uid-1`]);
  files.forget(`${root}/pods/uid-1`);
  driver.fail('nodeUnpublishVolume', { code: 'INTERNAL' });
  await next.cleanUp('d');
  await next.cleanUp('d');
  assert.deepEqual([left(), next.inUse()], [[], []]);
});

/** An agent that is killed before its n-th step: nothing of it happens any more from then on. */
function mortal(world: ReturnType<typeof setUp>, steps: number): { volumes: CsiBlockVolumes; steps: () => number } {
  let done = 0;
  const step = (): void => {
    if (done++ >= steps) throw new TubeletError('cancelled', 'killed');
  };
  world.files.fault = step;
  const { client } = world;
  const watched = new Proxy(client, {
    get(of, property) {
      const value: unknown = Reflect.get(of, property);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        step();
        return Reflect.apply(value, of, args);
      };
    },
  });
  const volumes = new CsiBlockVolumes({ ...world.deps, drivers: { find: () => watched } });
  return { volumes, steps: () => done };
}

for (const life of ['set-up', 'set-up beside another pod', 'teardown', 'teardown of the last of two'] as const) {
  test(`killed at every step of ${life}: the next agent takes all of it down`, async () => {
    for (let steps = 0, isThrough = false; !isThrough; steps++) {
      const world = setUp();
      const isSecond = life !== 'set-up' && life !== 'teardown';
      if (isSecond) await world.up('uid-2');
      if (life.startsWith('teardown')) await world.up();
      if (life === 'teardown of the last of two') await world.down('uid-2');
      const killed = mortal(world, steps);
      const work = life.startsWith('teardown')
        ? world.down('uid-1', killed.volumes)
        : world.up('uid-1', killed.volumes);
      isThrough = await work.then(
        () => true,
        () => false,
      );
      assert.ok(steps < 60, 'it ends');
      world.files.fault = () => {};
      world.devices.held.clear();
      // Odd steps: the pod is still wanted, and has it made ready before it goes.
      const next = new CsiBlockVolumes(world.deps);
      if (steps % 2 === 1) await world.up('uid-1', next);
      if (isSecond && life.startsWith('set-up')) {
        await world.down('uid-1', next);
        assert.deepEqual(
          [...(world.driver.volumes.get('h')?.published.keys() ?? [])],
          [`${top}/publish/pv-data/uid-2`],
        );
        await world.down('uid-2', next);
      } else {
        await world.down('uid-1', next);
      }
      assert.deepEqual(world.left(), [], `${life}, killed at step ${steps}`);
    }
  });
}
