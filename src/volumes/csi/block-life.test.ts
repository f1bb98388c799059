import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCalls } from '../../base/calls.ts';
import type { PersistentVolumeClaim } from '../../gen/kubernetes/types.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { FakeCsiDriver } from '../../testing/fake-csi-driver.ts';
import { MemoryBlockDevices, memoryTargets } from '../../testing/memory-block-devices.ts';
import { MemoryEvents } from '../../testing/memory-events.ts';
import { MemoryFiles } from '../../testing/memory-files.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { memoryVolumeHost } from '../../testing/memory-volume-host.ts';
import { aClaim, aPersistentVolume, MemoryClaims } from '../../testing/persistent-volumes.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { aVolumeManager } from '../../testing/volume-manager.ts';
import { VolumeClaims } from '../claims/volume-claims.ts';
import { csi } from '../plugins/csi.ts';
import type { VolumeManager } from '../volume-manager.ts';
import { CsiBlockVolumes } from './block-volumes.ts';
import { DriverClient } from './driver-client.ts';
import { DriverStats } from './driver-stats.ts';
import { VolumeExpander } from './expand-volumes.ts';

const never = new AbortController().signal;
const root = '/var/lib/kubelet';
const pod = aPod({
  spec: {
    nodeName: 'node-1',
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    containers: [aContainer('main', { volumeDevices: [{ name: 'v', devicePath: '/dev/v' }] })],
  },
});

function world() {
  const clock = new FakeClock();
  const files = new MemoryFiles();
  const api = new MemoryClaims();
  const driver = new FakeCsiDriver({ name: 'd', clock, targets: memoryTargets(files) });
  const client = new DriverClient({
    calls: noCalls,
    clock,
    open: driver.open,
    called: () => {},
    name: 'd',
    endpoint: '/d.sock',
  });
  const events = new MemoryEvents();
  const shared = {
    clock,
    log: new MemoryLog(),
    drivers: { find: () => client },
    secrets: { get: async () => ({}) },
    events,
  };
  const devices = new MemoryBlockDevices(files);
  /** One life of the agent. */
  const agent = (): { manager: VolumeManager; stats: DriverStats } => {
    const paths = podPaths(root, '/var/log/pods');
    const host = memoryVolumeHost(files);
    const expander = new VolumeExpander({ ...shared, api, claimEvents: { record: () => {} } });
    const blocks = new CsiBlockVolumes({
      ...shared,
      files,
      mounts: host.mounts,
      devices,
      podPaths: paths,
      rootDir: root,
      nodeName: 'node-1',
      expander,
    });
    const noFolders = {
      setUp: () => assert.fail('a device is none'),
      tearDown: () => assert.fail('a device is none'),
      attachable: () => undefined,
    };
    const manager = aVolumeManager({
      ...shared,
      host,
      paths,
      plugins: [csi(noFolders, blocks)],
      claims: new VolumeClaims({ api, nodeLabels: () => ({}) }),
      subPaths: { clean: async () => {} },
      wake: () => {},
    });
    return { manager, stats: new DriverStats({ ...shared, mounted: (uid) => manager.mounted(uid) }) };
  };
  const size = (storage: string): void =>
    void api.objects.set(
      'persistentvolumes/pv-data',
      aPersistentVolume('data', {
        csi: { driver: 'd', volumeHandle: 'h' },
        volumeMode: 'Block',
        capacity: { storage },
      }),
    );
  const status = (more: PersistentVolumeClaim['status']): void =>
    void api.objects.set('persistentvolumeclaims/data', aClaim('data', { status: { phase: 'Bound', ...more } }));
  return { clock, files, api, driver, devices, events, agent, size, status };
}

test('the life of a block volume: shown, measured, grown under a pod, and torn down by the next agent', async () => {
  const { clock, files, api, driver, devices, events, agent, size, status } = world();
  size('1Gi');
  status({ capacity: { storage: '1Gi' } });
  const { manager, stats } = agent();
  await manager.mount(pod, never);
  const path = `${root}/pods/uid-1/volumeDevices/kubernetes.io~csi/pv-data`;
  assert.equal(manager.mounted(pod.uid).get('v')?.hostPath, path);
  const measured = await stats.volumeUsage({ uid: pod.uid, name: 'v' }, never);
  assert.equal(measured?.usage.capacity, 2 ** 30);

  size('2Gi');
  status({
    capacity: { storage: '1Gi' },
    allocatedResources: { storage: '2Gi' },
    allocatedResourceStatuses: { storage: 'NodeResizePending' },
  });
  driver.taken();
  await clock.advance(60_000);
  await manager.mount(pod, never);
  await clock.advance(0);
  assert.deepEqual(driver.taken(), ['nodeExpandVolume']);
  assert.deepEqual(events.take(), [
    'Normal FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv-data" node-1',
  ]);
  const claim = api.objects.get('persistentvolumeclaims/data');
  assert.deepEqual(claim?.status, {
    phase: 'Bound',
    capacity: { storage: '2Gi' },
    allocatedResources: { storage: '2Gi' },
  });

  devices.held.clear();
  await agent().manager.tearDown(pod.uid);
  assert.deepEqual(driver.taken(), ['nodeUnpublishVolume', 'nodeUnstageVolume']);
  assert.deepEqual(driver.volumes.inUse(), []);
  assert.deepEqual(
    [...files.entries].filter(([, entry]) => entry.content !== undefined || entry.target !== undefined),
    [],
  );
});
