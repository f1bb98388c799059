import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { CSINode, Pod } from '../../../src/gen/kubernetes/types.ts';
import { until } from '../../support/real-wait.ts';
import type { Namespace } from './cluster-view.ts';
import { CsiWorld, type Claim } from './csi/csi-world.ts';

let world: CsiWorld;
let here: Namespace;
before(async () => {
  world = await CsiWorld.start();
  here = await world.view.namespace('survival');
});
after(() => world?.destroy());

const containersOf = (pod: Pod): unknown =>
  pod.status?.containerStatuses?.map(({ containerID, restartCount }) => ({ containerID, restartCount }));
const fileOf = ({ driver, handle }: Claim): string => readFileSync(join(driver.dataOf(handle), 'file'), 'utf8');
const write = (pod: string, path: string, words: string): Promise<string> =>
  world.inPod(here, pod, `echo ${words} > ${path}/file`);
const driversOnRecord = async (): Promise<readonly string[]> => {
  const found = await world.view.get<CSINode>(`/apis/storage.k8s.io/v1/csinodes/${world.node.name}`);
  return (found?.spec.drivers ?? []).map(({ name }) => name).toSorted();
};

test('a driver that is killed and comes back: pods keep what they have, and the next one gets it too', async () => {
  const driver = world.attached.hostpath;
  const claim = await world.claim(here, 'one', driver);
  await world.runPod(here, { name: 'before', claims: { '/data': 'one' } });
  await write('before', '/data', 'first');
  await driver.writeState();
  await driver.kill();
  assert.equal(await world.inPod(here, 'before', 'cat /data/file'), 'first');
  await world.makePod(here, { name: 'during', claims: { '/data': 'one' } });
  const told = async () => (await here.eventsOf('during')).find(({ reason }) => reason === 'FailedMount');
  assert.match(
    (await until('the pod is told why it waits', told, { timeoutMs: 60_000 })).message ?? '',
    /"survival-one"/,
  );
  await driver.start();
  await here.podReady('during');
  assert.equal(await world.inPod(here, 'during', 'cat /data/file'), 'first');
  await world.podsGone(here, 'before', 'during');
  assert.equal(fileOf(claim), 'first\n');
});

test('pods that are deleted while their drivers are away: they wait, nothing is lost, and they go when drivers are back', async () => {
  const claims = [
    await world.claim(here, 'two', world.attached.hostpath),
    await world.claim(here, 'three', world.plain.hostpath),
  ];
  const disk = await world.claim(here, 'disk', world.plain.hostpath, true);
  await world.runPod(here, { name: 'attached', claims: { '/data': 'two' } });
  const inline = { '/scratch': world.plain.hostpath.name };
  await world.runPod(here, { name: 'plain', claims: { '/data': 'three' }, devices: { '/dev/disk': 'disk' }, inline });
  await write('attached', '/data', 'second');
  await write('plain', '/data', 'third');
  await world.inPod(here, 'plain', 'printf words | dd of=/dev/disk conv=notrunc,fsync');
  const mounts = world.mounts();
  for (const { hostpath, registrar } of world.drivers) {
    await hostpath.writeState();
    await hostpath.kill();
    await registrar.stop();
  }
  await until('the cluster knows that the drivers are away', async () => (await driversOnRecord()).length === 0, {
    timeoutMs: 60_000,
  });
  const since = world.node.agent.text.length;
  await world.removePods(here, 'attached', 'plain');
  for (const { hostpath } of world.drivers) {
    await world.node.agent.said(new RegExp(`${hostpath.name} not found in the list of registered CSI drivers`), since);
  }
  for (const name of ['attached', 'plain']) {
    await here.podWhen(name, 'is on its way', ({ metadata }) => metadata?.deletionTimestamp !== undefined);
  }
  assert.deepEqual(world.mounts(), mounts, 'only the driver takes down what it has mounted');

  for (const { hostpath, registrar } of world.drivers) {
    const before = registrar.told.length;
    await hostpath.start();
    await registrar.start();
    await registrar.registered(before + 1);
  }
  for (const name of ['attached', 'plain']) await here.podGone(name);
  assert.deepEqual(claims.map(fileOf), ['second\n', 'third\n']);
  assert.equal(readFileSync(disk.driver.dataOf(disk.handle)).subarray(0, 5).toString(), 'words');
  await until('the cluster knows that the drivers are back', async () => (await driversOnRecord()).length === 2);
});

test('an agent that is killed: mounts stay, pods run on; what was deleted meanwhile goes after', async () => {
  const claim = await world.claim(here, 'four', world.attached.hostpath);
  await world.claim(here, 'second-disk', world.plain.hostpath, true);
  const inline = { '/scratch': world.plain.hostpath.name };
  const devices = { '/dev/disk': 'second-disk' };
  await world.runPod(here, { name: 'stays', claims: { '/data': 'four' }, devices });
  await world.runPod(here, { name: 'goes', claims: { '/data': 'four' }, inline });
  await world.runPod(here, { name: 'inline', inline });
  await write('stays', '/data', 'fourth');
  await write('inline', '/scratch', 'scratch');
  const containers = containersOf(await here.podReady('stays'));
  const mounts = world.mounts();
  const [driver, calls] = [world.attached.hostpath, () => world.attached.hostpath.calls(claim.handle)];

  await world.node.stopAgent('SIGKILL');
  assert.deepEqual(world.mounts(), mounts);
  await world.removePods(here, 'goes');
  const times = world.drivers.map(({ registrar }) => registrar.told.length);
  world.node.start('tubelet');
  await world.node.ready();
  for (const [index, { registrar }] of world.drivers.entries()) await registrar.registered((times[index] ?? 0) + 1);
  await here.podGone('goes');
  assert.deepEqual(containersOf(await here.podReady('stays')), containers);
  assert.equal(await world.inPod(here, 'stays', 'cat /data/file && test -b /dev/disk'), 'fourth');
  assert.equal(await world.inPod(here, 'inline', 'cat /scratch/file'), 'scratch');
  assert.ok(!calls().includes('NodeUnstageVolume'), 'a pod uses it');
  const still = world.mounts();
  assert.deepEqual(
    mounts.filter((point) => still.includes(point)),
    still,
    'nothing new',
  );

  await world.podsGone(here, 'stays', 'inline');
  await until(
    'the volume is unstaged',
    () => calls().at(-1) === 'NodeUnstageVolume' || calls().at(-1) === 'ControllerUnpublishVolume',
  );
  assert.equal(readFileSync(join(driver.dataOf(claim.handle), 'file'), 'utf8'), 'fourth\n');
});

test('a driver that has forgotten what it published: the mount is seen, and nothing is deleted through it', async () => {
  const driver = world.plain.hostpath;
  const claim = await world.claim(here, 'five', driver);
  await world.runPod(here, { name: 'forgotten', claims: { '/data': 'five' } });
  await write('forgotten', '/data', 'fifth');
  await driver.kill();
  await driver.start();
  await world.podsGone(here, 'forgotten');
  assert.equal(fileOf(claim), 'fifth\n');
});

test('nothing is left', async () => {
  await until('no mount and no file is left', () => world.mounts().length === 0 && world.stagingFiles().length === 0, {
    timeoutMs: 60_000,
    state: () => [world.mounts(), world.stagingFiles()],
  });
  for (const { hostpath } of world.drivers) {
    const used = async () =>
      (await hostpath.volumes()).filter(
        ({ Attached, Staged, Published }) => Attached || (Staged ?? []).length > 0 || (Published ?? []).length > 0,
      );
    await until(`${hostpath.name} has nothing in use`, async () => (await used()).length === 0, {
      timeoutMs: 60_000,
      state: used,
    });
  }
  const pods = join(world.node.names.kubeletRoot, 'pods');
  await until('no pod has files', () => readdirSync(pods).length === 0, { state: () => readdirSync(pods) });
  assert.ok(existsSync(pods));
});
