import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Broadcaster } from '../base/broadcaster.ts';
import { Due } from '../base/due.ts';
import { TubeletError } from '../base/errors.ts';
import type { CSIDriver, Node } from '../gen/kubernetes/types.ts';
import { podPaths } from '../model/pod-paths.ts';
import { PodRemoval } from '../model/pod-removal.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { FakeCsiDriver } from '../testing/fake-csi-driver.ts';
import { MemoryBlockDevices, memoryTargets } from '../testing/memory-block-devices.ts';
import { MemoryEvents } from '../testing/memory-events.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { memoryMountPrograms, memoryVolumeHost } from '../testing/memory-volume-host.ts';
import { MemoryClaims } from '../testing/persistent-volumes.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { createStorageDrivers } from './create-storage-drivers.ts';
import { createVolumes } from './create-volumes.ts';
import { noTokens, noTrust } from './index.ts';
import type { VolumesWiring } from './volumes-wiring.ts';
import { noDriverRecord } from './csi/index.ts';
import { commonPorts } from '../testing/common-ports.ts';

const never = new AbortController().signal;
const driverName = 'd.example.com';
const volumes = [
  { name: 'scratch', emptyDir: {} },
  { name: 'config', configMap: { name: 'settings' } },
  { name: 'disk', persistentVolumeClaim: { claimName: 'data' } },
];
const pod = aPod({
  spec: {
    volumes,
    containers: [aContainer('main', { volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) })],
  },
});

/** A node of a cluster with one storage driver, which has not registered yet. */
function world(isAttachRequired = false) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const ports = commonPorts({ clock, log });
  const files = new MemoryFiles();
  const api = new MemoryClaims();
  api.put('data', { csi: { driver: driverName, volumeHandle: 'h' } });
  const woken: string[] = [];
  let marks = 0;
  const nodeStatusDue = new Due();
  nodeStatusDue.takenBy(() => void marks++);
  const signals = {
    inbox: { resourcesChanged: (uids: readonly string[]) => void woken.push(...uids) },
    podRemoval: new PodRemoval(log),
    nodeStatusDue,
    driverChanged: new Broadcaster<string>(),
    storageAnswers: new Broadcaster<void>(),
  };
  const driver = new FakeCsiDriver({ name: driverName, clock, targets: memoryTargets(files) });
  const storage = createStorageDrivers({ ports, signals, open: driver.open, record: noDriverRecord });
  const object: CSIDriver = { metadata: { name: driverName }, spec: { attachRequired: isAttachRequired } };
  const news = new Broadcaster<void>();
  const node: Node = {};
  const wiring: VolumesWiring = {
    ports,
    signals,
    settings: { nodeName: 'n1', rootDir: '/k', imageVolumes: true, tmpfsNoSwap: true, hasSeLinux: false },
    machine: {
      host: memoryVolumeHost(files),
      programs: memoryMountPrograms(files),
      files,
      devices: new MemoryBlockDevices(files),
    },
    paths: podPaths('/k', '/logs'),
    node: {
      facts: {
        memoryCapacityBytes: 1n << 30n,
        swapCapacityBytes: 0n,
        allocatable: {},
        hugePageSizes: [],
        thermalThrottlePaths: [],
      },
      hostIps: () => ['192.0.2.1'],
    },
    objects: { configMap: () => ({ data: { a: 'b' } }), secret: () => undefined },
    images: { ensure: () => assert.fail('no volume is an image') },
    tokens: noTokens,
    trust: noTrust,
    events: new MemoryEvents(),
    drivers: storage.drivers,
    cluster: {
      api,
      node: { get: () => node, listen: () => {} },
      drivers: { synced: () => true, get: () => object, listen: (listener) => news.listen(listener) },
      claimEvents: { record: () => {} },
      nodeLabels: () => ({}),
    },
  };
  const register = (): Promise<void> =>
    storage.handler.register(
      { name: driverName, endpoint: '/d.sock', supportedVersions: ['1.0.0'] },
      '/registry/d.sock',
      never,
    );
  return { ...createVolumes(wiring), wiring, files, signals, woken, register, news, marks: () => marks };
}

async function started(isAttachRequired?: boolean) {
  const made = world(isAttachRequired);
  for (const component of made.components) await component.start(never);
  return made;
}

test('a driver that registers wakes the pods that wait for it; what is known of a pod ends with the pod', async () => {
  const { volumes: manager, register, signals, woken } = await started();
  await assert.rejects(manager.mount(pod, never), /not found in the list of registered CSI drivers/);
  assert.deepEqual(woken, []);
  await register();
  assert.deepEqual(woken, [pod.uid]);
  await manager.mount(pod, never);
  assert.deepEqual([...manager.mounted(pod.uid).keys()], ['scratch', 'config', 'disk']);
  assert.deepEqual(Object.fromEntries(signals.podRemoval.sizes()), {
    'csi-volumes': 1,
    'csi-operations': 0,
    'written-volumes': 1,
    'nfs-operations': 0,
    volumes: 1,
    'volume-teardowns': 0,
    'sub-paths': 0,
  });
  signals.podRemoval.podRemoved(pod.uid);
  assert.deepEqual([...new Set(signals.podRemoval.sizes().values())], [0]);
});

test('volumes in use are unknown before the disk is read; a new one makes the node status due', async () => {
  const { components, inUse, volumes: manager, register, marks } = world(true);
  assert.equal(inUse.names(), undefined);
  for (const component of components) await component.start(never);
  assert.deepEqual(inUse.names(), []);
  await register();
  const stop = new AbortController();
  const mounting = manager.mount(pod, stop.signal);
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  assert.deepEqual([inUse.names(), marks()], [[`kubernetes.io/csi/${driverName}^h`], 1]);
  stop.abort(new TubeletError('cancelled', 'the test is over'));
  await assert.rejects(mounting);
  for (const component of components) await component.stop();
});

test('changes of CSIDriver objects, and storage that answers again, wake pods whose volumes failed', async () => {
  const { volumes: manager, signals, woken, news } = await started();
  await assert.rejects(manager.mount(pod, never));
  news.broadcast();
  assert.deepEqual(woken, [pod.uid]);
  signals.storageAnswers.broadcast();
  assert.deepEqual(woken, [pod.uid, pod.uid]);
});

test('a pod whose subPath was on storage that did not answer is woken when it does', async () => {
  const { subPaths, files, signals, woken } = await started();
  files.fault = (operation) => {
    if (operation === 'makeBelow') throw new TubeletError('unavailable', 'it does not answer');
  };
  const part = { values: [], mountName: 'v', container: 'main', volumePath: '/v', subPath: 'a', target: '/k/t' };
  await assert.rejects(subPaths.bind(pod.uid, part));
  assert.equal(signals.podRemoval.sizes().get('sub-paths'), 1);
  signals.storageAnswers.broadcast();
  assert.deepEqual(woken, [pod.uid]);
  assert.equal(signals.podRemoval.sizes().get('sub-paths'), 0);
  await assert.rejects(subPaths.bind(pod.uid, part));
  signals.podRemoval.podRemoved(pod.uid);
  assert.equal(signals.podRemoval.sizes().get('sub-paths'), 0);
});
