import assert from 'node:assert/strict';
import { saidNo, type Examine } from './world.ts';

export function refusalTests(examine: Examine): void {
  examine('nothing is published that is not staged, or staged elsewhere', async (world) => {
    const volume = await world.volume();
    const target = volume.target('pod');
    await assert.rejects(volume.publish(target), { code: 'FailedPrecondition' });
    await volume.stage();
    await assert.rejects(volume.publish(target, { stagingTargetPath: `${volume.staging}-2` }), saidNo);
    await assert.rejects(volume.stage({ stagingTargetPath: `${volume.staging}-2` }), saidNo);
    await volume.unstage(`${volume.staging}-2`);
    await volume.publish(target);
  });

  examine('nothing is unstaged that is published', async (world) => {
    const volume = await world.volume();
    const target = volume.target('pod');
    await volume.stage();
    await volume.publish(target);
    await assert.rejects(volume.unstage(), saidNo);
    await volume.publish(volume.target('other'));
    await volume.unpublish(volume.target('other'));
    await volume.unpublish(target);
    await volume.unstage();
  });

  examine('what is not said is InvalidArgument', async (world) => {
    const { driver } = world.subject;
    const volume = await world.volume();
    const target = volume.target('pod');
    const invalid = { code: 'InvalidArgument' };
    const [volumeId, stagingTargetPath] = [volume.id, volume.staging];
    await assert.rejects(volume.stage({ volumeId: '' }), invalid);
    await assert.rejects(volume.stage({ stagingTargetPath: '' }), invalid);
    await assert.rejects(volume.stage({ volumeCapability: undefined }), invalid);
    await volume.stage();
    await assert.rejects(volume.publish(target, { volumeId: '' }), invalid);
    await assert.rejects(volume.publish(''), invalid);
    await assert.rejects(volume.publish(target, { volumeCapability: undefined }), invalid);
    await assert.rejects(volume.publish(target, { stagingTargetPath: '' }), invalid);
    await assert.rejects(driver.unpublish({ volumeId: '', targetPath: target }), invalid);
    await assert.rejects(driver.unpublish({ volumeId, targetPath: '' }), invalid);
    await assert.rejects(driver.unstage({ volumeId: '', stagingTargetPath }), invalid);
    await assert.rejects(driver.unstage({ volumeId, stagingTargetPath: '' }), invalid);
    await assert.rejects(driver.stats({ volumeId: '', volumePath: target }), invalid);
    await assert.rejects(driver.stats({ volumeId, volumePath: '' }), invalid);
    await assert.rejects(driver.expand({ volumeId: '', volumePath: target }), invalid);
    await assert.rejects(driver.expand({ volumeId, volumePath: '' }), invalid);
  });

  examine('a volume that is no more is NotFound, also for who takes it down', async (world) => {
    const { driver } = world.subject;
    const volume = await world.volume();
    const target = volume.target('pod');
    await world.subject.remove(volume.id);
    const missing = { code: 'NotFound' };
    const [volumeId, volumePath] = [volume.id, target];
    await assert.rejects(volume.stage(), missing);
    await assert.rejects(volume.publish(target), missing);
    await assert.rejects(volume.unpublish(target), missing);
    await assert.rejects(volume.unstage(), missing);
    await assert.rejects(driver.stats({ volumeId, volumePath }), missing);
    await assert.rejects(driver.expand({ volumeId, volumePath }), missing);
  });

  examine('no figures of a place where nothing is, and nothing grows there', async (world) => {
    const { driver } = world.subject;
    const volume = await world.volume();
    await volume.stage();
    const nowhere = { volumeId: volume.id, volumePath: volume.target('nobody') };
    await assert.rejects(driver.stats(nowhere), { code: 'NotFound' });
    await assert.rejects(driver.expand(nowhere), saidNo);
  });
}
