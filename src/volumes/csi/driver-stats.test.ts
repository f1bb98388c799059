import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCalls } from '../../base/calls.ts';
import { podUid } from '../../base/ids.ts';
import { VolumeUsage_Unit } from '../../gen/csi/v1.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { FakeCsiDriver, type FakeCsiDriverOptions } from '../../testing/fake-csi-driver.ts';
import type { MountedVolume } from '../ports.ts';
import { accessModes } from './driver-capabilities.ts';
import { DriverClient } from './driver-client.ts';
import { DriverStats, usageOf } from './driver-stats.ts';

const never = new AbortController().signal;
const uid = podUid('uid-1');

async function setUp(capabilities: FakeCsiDriverOptions['capabilities'] = ['GET_VOLUME_STATS', 'VOLUME_CONDITION']) {
  const clock = new FakeClock();
  const driver = new FakeCsiDriver({ name: 'd', clock, capabilities });
  const client = new DriverClient({
    calls: noCalls,
    clock,
    open: driver.open,
    called: () => {},
    name: 'd',
    endpoint: '/d.sock',
  });
  const volumeCapability = { block: {}, accessMode: { mode: accessModes.SINGLE_NODE_WRITER } };
  await client.publish({ volumeId: 'h', targetPath: '/target', volumeCapability });
  driver.taken();
  const reported: string[] = [];
  const place = { name: 'd', volumeHandle: 'h', volumePath: '/target' };
  const volumes = new Map<string, MountedVolume>([
    ['v', { hostPath: '/target', driver: place }],
    ['cache', { hostPath: '/cache' }],
  ]);
  const stats = new DriverStats({
    clock,
    drivers: { find: () => client },
    mounted: () => volumes,
    abnormal: (of, { reason, message }) => void reported.push(`${of} ${reason}: ${message}`),
  });
  return {
    clock,
    driver,
    stats,
    reported,
    ask: (name: string, signal = never) => stats.volumeUsage({ uid, name }, signal),
  };
}

const usage = {
  capacity: 2 ** 30,
  available: 0.75 * 2 ** 30,
  used: 0.25 * 2 ** 30,
  inodes: 1_000,
  inodesFree: 900,
  inodesUsed: 100,
};

test('a driver reports on its own volumes, and on no others', async () => {
  const { clock, driver, ask } = await setUp();
  assert.deepEqual(await ask('v'), { driver: 'd', usage: { ...usage, at: clock.now(), isAbnormal: false } });
  assert.equal(await ask('cache'), undefined);
  assert.equal(await ask('gone'), undefined);
  assert.deepEqual(driver.taken(), ['nodeGetCapabilities', 'nodeGetVolumeStats']);
});

test('a driver that does not measure is not asked to; one that does not check reports no condition', async () => {
  const none = await setUp([]);
  assert.equal(await none.ask('v'), undefined);
  assert.deepEqual(none.driver.taken(), ['nodeGetCapabilities']);
  const { ask, clock } = await setUp(['GET_VOLUME_STATS']);
  assert.deepEqual(await ask('v'), { driver: 'd', usage: { ...usage, at: clock.now() } });
});

test('an abnormal condition is reported once, and again when it comes back', async () => {
  const { driver, reported, ask } = await setUp();
  const volume = driver.volumes.get('h');
  assert.ok(volume);
  volume.abnormal = 'disk is failing';
  assert.equal((await ask('v'))?.usage.isAbnormal, true);
  await ask('v');
  assert.deepEqual(reported.splice(0), ['uid-1 VolumeConditionAbnormal: Volume v: disk is failing']);
  delete volume.abnormal;
  await ask('v');
  volume.abnormal = 'disk is failing';
  await ask('v');
  assert.equal(reported.length, 1);
});

test('a driver that hangs is given up after half a minute, or when the caller aborts', async () => {
  const { clock, driver, ask } = await setUp();
  const heal = driver.hang('nodeGetVolumeStats');
  const asked = driver.asked('nodeGetVolumeStats');
  const outcome = assert.rejects(ask('v'), { kind: 'timeout' });
  await asked;
  await clock.advance(30_000);
  await outcome;
  const aborted = new AbortController();
  const again = driver.asked('nodeGetVolumeStats');
  const given = assert.rejects(ask('v', aborted.signal));
  await again;
  aborted.abort();
  await given;
  heal();
  assert.ok(await ask('v'));
});

test('usage in unusual answers', () => {
  const of = (...list: readonly { unit: number; total?: bigint }[]) =>
    usageOf({ usage: list.map((one) => ({ available: 1n, total: 2n, used: 3n, ...one })) as never }, 5);
  const unknown = { inodes: undefined, inodesFree: undefined, inodesUsed: undefined };
  const bytes = { at: 5, capacity: 2, available: 1, used: 3, ...unknown };
  assert.deepEqual(of({ unit: VolumeUsage_Unit.BYTES }), bytes);
  assert.deepEqual(of({ unit: VolumeUsage_Unit.UNKNOWN }, { unit: VolumeUsage_Unit.BYTES }), bytes);
  assert.equal(of({ unit: VolumeUsage_Unit.INODES, total: 9n }).inodes, 9);
  assert.throws(() => of(), { message: 'failed to get usage from response. usage is nil' });
  assert.throws(() => of({ unit: VolumeUsage_Unit.UNKNOWN }), { kind: 'invalid' });
});
