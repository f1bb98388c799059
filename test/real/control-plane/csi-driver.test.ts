import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { noCalls } from '../../../src/base/calls.ts';
import { unixChannels } from '../../../src/grpc/index.ts';
import { readMountInfo } from '../../../src/host/index.ts';
import { hostMounts } from '../../../src/host/mounts.ts';
import { capabilityFor, csiConformance } from '../../../src/testing/csi-conformance/index.ts';
import { DriverClient } from '../../../src/volumes/csi/driver-client.ts';
import { clock } from '../../support/real-wait.ts';
import { HostpathDriver, topologyKey } from './csi/hostpath-driver.ts';

const mebibyte = 1n << 20n;

/** The driver in a folder of its own, and the agent's client of it. */
class Bench {
  readonly folder = mkdtempSync(join(tmpdir(), 'tubelet-csi-'));
  readonly data = join(this.folder, 'data');
  readonly hostpath = new HostpathDriver({
    name: 'hostpath.csi.k8s.io',
    nodeId: 'node-1',
    socketPath: join(this.folder, 'csi.sock'),
    dataFolder: this.data,
  });
  readonly driver = new DriverClient({
    calls: noCalls,
    clock,
    open: unixChannels(clock),
    called: () => {},
    name: this.hostpath.name,
    endpoint: this.hostpath.socketPath,
  });
  #made = 0;

  async create(kind: 'mount' | 'block'): Promise<string> {
    const { id } = await this.hostpath.createVolume(`volume-${++this.#made}`, 8n * mebibyte, capabilityFor(kind));
    return id;
  }

  mounts(): readonly string[] {
    return readMountInfo()
      .map(({ mountPoint }) => mountPoint)
      .filter((point) => point.startsWith(`${this.folder}/`));
  }

  async destroy(): Promise<void> {
    this.driver.close();
    for (const mount of this.mounts().toReversed()) await hostMounts.unmount(mount);
    await this.hostpath.destroy();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

let examined: Bench;
csiConformance({
  name: 'the CSI hostpath driver',
  async setup() {
    examined = new Bench();
    await examined.hostpath.start();
    return {
      driver: examined.driver,
      folder: examined.folder,
      node: { nodeId: 'node-1', topology: { [topologyKey]: 'node-1' }, maxVolumes: undefined },
      capabilities: ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS', 'EXPAND_VOLUME', 'VOLUME_CONDITION'],
      create: (kind) => examined.create(kind),
      remove: (id) => examined.hostpath.controller.deleteVolume(id),
    };
  },
  async teardown() {
    const left = { mounts: examined.mounts(), devices: examined.hostpath.devices() };
    await examined.destroy();
    assert.deepEqual(left, { mounts: [], devices: [] });
  },
});

describe('what a fake has not: contents', () => {
  let bench: Bench;
  before(async () => {
    bench = new Bench();
    await bench.hostpath.start();
  });
  after(() => bench?.destroy());

  const staged = async (kind: 'mount' | 'block') => {
    const volumeId = await bench.create(kind);
    const stagingTargetPath = join(bench.folder, 'staging');
    const volumeCapability = capabilityFor(kind);
    await bench.driver.stage({ volumeId, stagingTargetPath, volumeCapability });
    return { volumeId, stagingTargetPath, volumeCapability };
  };

  test('two places show one folder; what is written outlives uses, and a driver that was killed', async () => {
    const volume = await staged('mount');
    const [one, other] = [join(bench.folder, 'one'), join(bench.folder, 'other')];
    await bench.driver.publish({ ...volume, targetPath: one });
    await bench.driver.publish({ ...volume, targetPath: other, readonly: true });
    writeFileSync(join(one, 'kept'), 'words');
    assert.equal(readFileSync(join(other, 'kept'), 'utf8'), 'words');
    assert.throws(() => writeFileSync(join(other, 'more'), ''), { code: 'EROFS' });
    await bench.hostpath.writeState();
    await bench.hostpath.kill();
    await assert.rejects(bench.driver.unpublish({ volumeId: volume.volumeId, targetPath: one }), {
      kind: 'unavailable',
    });
    assert.equal(readFileSync(join(other, 'kept'), 'utf8'), 'words', 'a mount does not need its driver');
    await bench.hostpath.start();
    for (const targetPath of [one, other]) await bench.driver.unpublish({ volumeId: volume.volumeId, targetPath });
    assert.ok(!existsSync(one) && !existsSync(other));
    await bench.driver.publish({ ...volume, targetPath: one });
    assert.equal(readFileSync(join(one, 'kept'), 'utf8'), 'words');
    await bench.driver.unpublish({ volumeId: volume.volumeId, targetPath: one });
    await bench.driver.unstage(volume);
    await bench.hostpath.controller.deleteVolume(volume.volumeId);
  });

  test('a block volume is a device, with what was written to it', async () => {
    const volume = await staged('block');
    const targetPath = join(bench.folder, 'device');
    await bench.driver.publish({ ...volume, targetPath });
    assert.ok(statSync(targetPath).isBlockDevice());
    writeFileSync(targetPath, 'words', { flag: 'r+' });
    await bench.driver.unpublish({ volumeId: volume.volumeId, targetPath });
    assert.ok(!existsSync(targetPath));
    await bench.driver.publish({ ...volume, targetPath });
    assert.equal(readFileSync(targetPath).subarray(0, 5).toString(), 'words');
    await bench.driver.unpublish({ volumeId: volume.volumeId, targetPath });
    await bench.driver.unstage(volume);
    await bench.hostpath.controller.deleteVolume(volume.volumeId);
    assert.deepEqual(bench.hostpath.devices(), []);
  });

  test('a driver that has forgotten what it published says it is done, and the mount stays', async () => {
    const volume = await staged('mount');
    const targetPath = join(bench.folder, 'forgotten');
    await bench.driver.publish({ ...volume, targetPath });
    await bench.hostpath.kill();
    await bench.hostpath.start();
    await bench.driver.unpublish({ volumeId: volume.volumeId, targetPath });
    assert.ok(bench.mounts().includes(targetPath), 'who asks must look');
    await hostMounts.unmount(targetPath);
    await bench.hostpath.controller.deleteVolume(volume.volumeId);
  });
});
