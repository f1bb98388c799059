import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../base/errors.ts';
import { podPaths } from '../model/pod-paths.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryEvents } from '../testing/memory-events.ts';
import { MemoryFiles } from '../testing/memory-files.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { aVolumeManager } from '../testing/volume-manager.ts';
import { memoryVolumeHost } from '../testing/memory-volume-host.ts';
import { aClaim, aPersistentVolume, MemoryClaims } from '../testing/persistent-volumes.ts';
import { aContainer, aPod } from '../testing/pods.ts';
import { VolumeClaims } from './claims/volume-claims.ts';
import type { ClaimedVolume } from './claims/claimed-volume.ts';

const never = new AbortController().signal;
const minute = 60_000;
const csi = { driver: 'd', volumeHandle: 'h' };
const pod = aPod({
  spec: {
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
    containers: [aContainer('main', { volumeDevices: [{ name: 'v', devicePath: '/dev/v' }] })],
  },
});

/** A kind that can grow and one that cannot, and a claim to one of them. */
function setUp(source: object = { csi }) {
  const clock = new FakeClock();
  const files = new MemoryFiles();
  const api = new MemoryClaims();
  const events = new MemoryEvents();
  const calls: string[] = [];
  let resize = async (_signal: AbortSignal): Promise<void> => {};
  const sizeOf = ({ objects }: ClaimedVolume): string => objects.volume.spec?.capacity?.['storage'] ?? '';
  const link = '/var/lib/kubelet/pods/uid-1/volumeDevices/kubernetes.io~csi/pv-data';
  const manager = aVolumeManager({
    clock,
    log: new MemoryLog(),
    host: memoryVolumeHost(files),
    paths: podPaths('/var/lib/kubelet', '/var/log/pods'),
    plugins: [
      {
        folder: 'kubernetes.io~csi',
        handles: () => false,
        handlesClaimed: ({ kind }) => kind === 'csi',
        async setUp() {
          await files.makeFolder('/var/lib/kubelet/pods/uid-1/volumeDevices/kubernetes.io~csi', 0o750);
          files.entries.set(link, { target: '/dev/x', mode: 0o777 });
          return { hostPath: link };
        },
        async resize({ claimed }, before, signal) {
          calls.push(`resize ${sizeOf(before)} to ${claimed === undefined ? '' : sizeOf(claimed)}`);
          await resize(signal);
        },
        tearDown: async ({ name }) => void calls.push(`down ${name}`),
        async tearDownDevice({ uid, name }) {
          calls.push(`device down ${uid} ${name}`);
          files.entries.delete(link);
        },
      },
      {
        handles: () => false,
        handlesClaimed: ({ kind }) => kind === 'local',
        setUp: async () => ({ hostPath: '/dev/disk' }),
      },
    ],
    claims: new VolumeClaims({ api, nodeLabels: () => ({}) }),
    subPaths: { clean: async () => {} },
    events,
    wake: () => {},
  });
  const grow = (storage: string): void =>
    void api.objects.set(
      'persistentvolumes/pv-data',
      aPersistentVolume('data', { ...source, volumeMode: 'Block', capacity: { storage } }),
    );
  api.objects.set('persistentvolumeclaims/data', aClaim('data'));
  grow('1Gi');
  return {
    files,
    api,
    events,
    calls,
    manager,
    grow,
    resizes: (work: typeof resize) => void (resize = work),
    /** A sync of the pod this much later, with all that it starts. */
    sync: async (ms = 0): Promise<void> => {
      await clock.advance(ms);
      await manager.mount(pod, never);
      await clock.advance(0);
    },
  };
}

test('a claim is read again once a minute, at syncs of its pod', async () => {
  const { api, calls, grow, sync } = setUp();
  await sync();
  await sync(30_000);
  assert.equal(api.asked.length, 2);
  grow('2Gi');
  await sync(minute);
  await sync(1);
  assert.equal(api.asked.length, 4);
  assert.deepEqual(calls, ['resize 1Gi to 2Gi']);
  await sync(minute);
  assert.deepEqual(calls, ['resize 1Gi to 2Gi', 'resize 2Gi to 2Gi']);
});

test('claims of plugins that cannot expand are not read', async () => {
  const { api, sync } = setUp({ local: { path: '/dev/disk' } });
  await sync();
  await sync(minute);
  await sync(minute);
  assert.equal(api.asked.length, 2);
});

test('a failure is reported, and retried from where it was', async () => {
  const { calls, events, grow, sync, manager, resizes } = setUp();
  await sync();
  await sync(1);
  grow('2Gi');
  resizes(async () => Promise.reject(new TubeletError('unavailable', 'not now')));
  await sync(minute);
  assert.deepEqual(events.take(), [
    'Warning VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv-data" : not now',
  ]);
  assert.equal(manager.mounted(pod.uid).size, 1);
  resizes(async () => {});
  await sync(minute);
  assert.deepEqual(calls, ['resize 1Gi to 2Gi', 'resize 1Gi to 2Gi']);
});

test('an API server that fails, or a claim that is bound to another volume, changes nothing', async () => {
  const { api, calls, events, sync, manager } = setUp();
  await sync();
  await sync(1);
  api.fault = () => {
    throw new TubeletError('unavailable', 'connection refused');
  };
  await sync(minute);
  api.fault = () => {};
  api.objects.set('persistentvolumeclaims/data', aClaim('data', { spec: { volumeName: 'pv-other' } }));
  const other = aPersistentVolume('data', { csi, volumeMode: 'Block' });
  api.objects.set('persistentvolumes/pv-other', { ...other, metadata: { name: 'pv-other' } });
  await sync(minute);
  assert.deepEqual([calls, events.take(), manager.mounted(pod.uid).size], [[], [], 1]);
});

test('syncs do not wait for a driver, and a teardown aborts it first; devices are found on disk', async () => {
  const { calls, files, sync, manager, resizes } = setUp();
  await sync();
  await sync(1);
  resizes(
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          calls.push('given up');
          reject(signal.reason);
        });
      }),
  );
  await sync(minute);
  await sync(minute);
  assert.deepEqual(calls, ['resize 1Gi to 1Gi']);
  await manager.tearDown(pod.uid);
  assert.deepEqual(calls, ['resize 1Gi to 1Gi', 'given up', 'device down uid-1 pv-data']);
  assert.deepEqual(await files.list('/var/lib/kubelet/pods/uid-1/volumeDevices/kubernetes.io~csi'), []);
});
