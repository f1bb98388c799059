import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { systemClock } from '../base/system-clock.ts';
import type { RpcChannel } from '../base/rpc.ts';
import { IdentityService, NodePublishVolumeRequest, NodeService, NodeStageVolumeRequest } from '../gen/csi/v1.ts';
import { unixChannels } from '../grpc/index.ts';
import { diskTargets, FakeCsiDriver } from './fake-csi-driver.ts';

let folder = '';
before(async () => void (folder = await mkdtemp(join(tmpdir(), 'csi-'))));
after(() => rm(folder, { recursive: true, force: true }));

const volumeCapability = { accessMode: { mode: 1 as const }, mount: undefined, block: undefined };
const stage = (channel: RpcChannel, more: Partial<NodeStageVolumeRequest> = {}) =>
  channel.call(
    NodeService.nodeStageVolume,
    NodeStageVolumeRequest.fromPartial({ volumeId: 'v', stagingTargetPath: '/s', volumeCapability, ...more }),
  );
const publish = (channel: RpcChannel, targetPath: string, more: Partial<NodePublishVolumeRequest> = {}) =>
  channel.call(
    NodeService.nodePublishVolume,
    NodePublishVolumeRequest.fromPartial({
      volumeId: 'v',
      stagingTargetPath: '/s',
      targetPath,
      volumeCapability,
      ...more,
    }),
  );
const unpublish = (channel: RpcChannel, targetPath: string) =>
  channel.call(NodeService.nodeUnpublishVolume, { volumeId: 'v', targetPath });
const unstage = (channel: RpcChannel) =>
  channel.call(NodeService.nodeUnstageVolume, { volumeId: 'v', stagingTargetPath: '/s' });

for (const way of ['in process', 'behind a socket'] as const) {
  test(`${way}: insists on the order, and lets everything be repeated`, async (context) => {
    const driver = new FakeCsiDriver({ targets: diskTargets });
    const socket = join(folder, 'order.sock');
    if (way === 'behind a socket') await driver.serve(socket);
    const channel = way === 'in process' ? driver.open(socket) : unixChannels(systemClock())(socket);
    context.after(async () => {
      channel.close();
      await driver.die();
    });
    const target = join(folder, 'target');
    await assert.rejects(publish(channel, target), { code: 'FailedPrecondition' });
    await assert.rejects(stage(channel, { volumeId: '' }), {
      code: 'InvalidArgument',
      remoteMessage: 'volume_id is missing',
    });
    for (let round = 0; round < 2; round++) await stage(channel);
    await assert.rejects(stage(channel, { stagingTargetPath: '/elsewhere' }), { code: 'AlreadyExists' });
    for (let round = 0; round < 2; round++) await publish(channel, target);
    assert.ok(statSync(target).isDirectory());
    await assert.rejects(publish(channel, target, { readonly: true }), { code: 'AlreadyExists' });
    await publish(channel, `${target}-device`, {
      volumeCapability: { ...volumeCapability, block: {} },
    });
    assert.ok(statSync(`${target}-device`).isFile());
    await assert.rejects(unstage(channel), { code: 'FailedPrecondition' });
    for (const path of [target, `${target}-device`, target]) await unpublish(channel, path);
    assert.ok(!existsSync(target) && !existsSync(`${target}-device`));
    for (let round = 0; round < 2; round++) await unstage(channel);
    assert.deepEqual(driver.volumes.inUse(), []);
  });

  test(`${way}: faults, with and without effect; death and return`, async (context) => {
    const driver = new FakeCsiDriver();
    const socket = join(folder, 'faults.sock');
    const rise = async (): Promise<void> => (way === 'in process' ? driver.revive() : driver.serve(socket));
    await rise();
    const channel = way === 'in process' ? driver.open(socket) : unixChannels(systemClock())(socket);
    context.after(async () => {
      channel.close();
      await driver.die();
    });
    driver.fail('nodeStageVolume', { code: 'INTERNAL', details: 'no disk', times: 2 });
    for (let round = 0; round < 2; round++)
      await assert.rejects(stage(channel), { code: 'Internal', remoteMessage: 'no disk' });
    assert.deepEqual(driver.volumes.inUse(), []);
    driver.fail('nodeStageVolume', { code: 'UNAVAILABLE', afterwards: true });
    await assert.rejects(stage(channel), { code: 'Unavailable' });
    assert.deepEqual(driver.volumes.inUse(), ['v'], 'done, and only the answer was lost');
    const asked = driver.asked('nodeUnstageVolume');
    driver.hang('nodeUnstageVolume');
    const broken = assert.rejects(unstage(channel), { kind: 'unavailable' });
    await asked;
    await driver.die();
    await broken;
    await assert.rejects(stage(channel), { kind: 'unavailable' });
    driver.heal();
    await rise();
    await channel.connected(new AbortController().signal);
    assert.deepEqual(driver.volumes.inUse(), ['v'], 'what it had outlives it');
    await unstage(channel);
  });
}

test('what it cannot do it says', async () => {
  const driver = new FakeCsiDriver({ capabilities: [] });
  const channel = driver.open('');
  await assert.rejects(stage(channel), { code: 'Unimplemented' });
  await publish(channel, '/t', { stagingTargetPath: '' });
  const stats = { volumeId: 'v', volumePath: '/t', stagingTargetPath: '' };
  await assert.rejects(channel.call(NodeService.nodeGetVolumeStats, stats), { code: 'Unimplemented' });
  driver.traits.capabilities = ['GET_VOLUME_STATS'];
  assert.equal((await channel.call(NodeService.nodeGetVolumeStats, stats)).usage.length, 2);
  const elsewhere = { ...stats, volumePath: '/u' };
  await assert.rejects(channel.call(NodeService.nodeGetVolumeStats, elsewhere), { code: 'NotFound' });
  await assert.rejects(channel.call(IdentityService.probe, {}), { code: 'Unimplemented' }, 'only behind a socket');
});
