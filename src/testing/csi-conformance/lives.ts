import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { VolumeUsage_Unit } from '../../gen/csi/v1.ts';
import type { Examine } from './world.ts';

const mebibyte = 1n << 20n;
const inlineContext = { 'csi.storage.k8s.io/ephemeral': 'true', 'csi.storage.k8s.io/pod.name': 'examined' };

export function lifeTests(examine: Examine): void {
  examine('says what it calls this node, from where volumes are reached, and what it can do', async ({ subject }) => {
    assert.deepEqual(await subject.driver.node(), subject.node);
    assert.deepEqual([...(await subject.driver.capabilities())].toSorted(), [...subject.capabilities].toSorted());
  });

  examine('staged, published, unpublished, unstaged; each as often as one likes', async (world) => {
    const volume = await world.volume();
    const target = volume.target('pod');
    for (let round = 0; round < 2; round++) await volume.stage();
    for (let round = 0; round < 2; round++) await volume.publish(target);
    assert.ok(statSync(target).isDirectory());
    for (let round = 0; round < 2; round++) await volume.unpublish(target);
    assert.ok(!existsSync(target), 'the driver takes away what it made');
    for (let round = 0; round < 2; round++) await volume.unstage();
  });

  examine('one volume in two pods: what is taken from one stays with the other', async (world) => {
    const volume = await world.volume();
    const [one, other] = [volume.target('one'), volume.target('other')];
    await volume.stage();
    await volume.publish(one);
    await volume.publish(other);
    await volume.unpublish(one);
    assert.ok(!existsSync(one));
    assert.ok(statSync(other).isDirectory());
    await volume.unpublish(other);
    await volume.unstage();
    await volume.stage();
    await volume.publish(one);
    assert.ok(statSync(one).isDirectory(), 'again, after all was taken down');
  });

  examine('taking down what is not there is done', async (world) => {
    const volume = await world.volume();
    await volume.unpublish(volume.target('pod'));
    await volume.unstage();
  });

  examine('figures of a volume that is in use: bytes, files, health', async (world) => {
    const volume = await world.volume();
    const target = volume.target('pod');
    await volume.stage();
    await volume.publish(target);
    const { usage, volumeCondition } = await world.subject.driver.stats({ volumeId: volume.id, volumePath: target });
    assert.deepEqual(
      usage.map(({ unit }) => unit),
      [VolumeUsage_Unit.BYTES, VolumeUsage_Unit.INODES],
    );
    for (const { total, used, available } of usage) {
      assert.ok(total > 0n && used >= 0n && available >= 0n && used <= total && available <= total);
    }
    assert.equal(typeof volumeCondition?.abnormal, 'boolean');
    assert.equal(volumeCondition?.abnormal, volumeCondition?.message !== '', 'who is unwell says why');
  });

  for (const kind of ['mount', 'block'] as const) {
    examine(`grows, as often as one likes (${kind})`, async (world) => {
      const volume = await world.volume(kind);
      const target = volume.target('pod');
      await volume.stage();
      await volume.publish(target);
      const requiredBytes = 2048n * mebibyte;
      for (let round = 0; round < 2; round++) {
        const bytes = await world.subject.driver.expand({
          volumeId: volume.id,
          volumePath: target,
          stagingTargetPath: volume.staging,
          capacityRange: { requiredBytes, limitBytes: 0n },
          volumeCapability: volume.capability,
        });
        assert.ok(bytes === undefined || bytes >= requiredBytes, 'a driver need not say');
      }
    });
  }

  examine('a block volume is one file, made and taken away by the driver', async (world) => {
    const volume = await world.volume('block');
    const target = volume.target('device');
    for (let round = 0; round < 2; round++) await volume.stage();
    for (let round = 0; round < 2; round++) await volume.publish(target);
    assert.ok(!statSync(target).isDirectory());
    for (let round = 0; round < 2; round++) await volume.unpublish(target);
    assert.ok(!existsSync(target));
    await volume.unstage();
  });

  examine('an inline volume comes with its pod, is not staged, and goes with it', async (world) => {
    const volume = world.inlineVolume();
    const target = volume.target('pod');
    const inline = { stagingTargetPath: '', volumeContext: inlineContext };
    await assert.rejects(volume.unpublish(target), { code: 'NotFound' }, 'it has not come yet');
    await volume.publish(target, inline);
    assert.ok(statSync(target).isDirectory());
    await volume.unpublish(target);
    assert.ok(!existsSync(target));
    await assert.rejects(volume.unpublish(target), { code: 'NotFound' }, 'it went with the first time');
    await volume.publish(target, inline);
    assert.ok(statSync(target).isDirectory(), 'and may come again');
  });
}
