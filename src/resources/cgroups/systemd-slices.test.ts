import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { podUid } from '../../base/ids.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { SystemdSlices } from './systemd-slices.ts';

function setUp(busy: readonly string[] = []) {
  const log = new MemoryLog();
  const asked: string[] = [];
  const slices = new SystemdSlices({
    log,
    cgroupRoot: '/',
    removeEmpty: async (path) => {
      asked.push(path);
      return busy.includes(path) ? { removed: false, busy: [`/sys/fs/cgroup${path}`] } : { removed: true };
    },
  });
  return { log, asked, slices };
}

const slicesOfPod = [
  '/kubepods.slice/kubepods-podu_1.slice',
  '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu_1.slice',
  '/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podu_1.slice',
] as const;

test('slices are left to systemd, and that is logged once', async () => {
  const { log, asked, slices } = setUp();
  await slices.start();
  await slices.ensure();
  await slices.ensure();
  assert.equal(slices.exist(), true);
  assert.equal(log.messages('warn').length, 1);
  assert.deepEqual(asked, []);
});

test('a slice is removed from any QoS class', async () => {
  const { asked, slices } = setUp();
  await slices.remove(podUid('u-1'));
  assert.deepEqual(asked, slicesOfPod);
});

test('a slice with processes stays, and remove fails', async () => {
  const { asked, slices } = setUp([slicesOfPod[1]]);
  const words = `processes of pod u-1 are still in /sys/fs/cgroup${slicesOfPod[1]}`;
  await assert.rejects(slices.remove(podUid('u-1')), new TubeletError('conflict', words));
  assert.deepEqual(asked, slicesOfPod.slice(0, 2));
});
