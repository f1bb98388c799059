import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { noCalls } from '../../base/calls.ts';
import { silentLog } from '../../base/log.ts';
import { hostFiles, volumeHost } from '../../host/index.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { csiDriverName } from '../../testing/csi-world.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { diskTargets, FakeCsiDriver } from '../../testing/fake-csi-driver.ts';
import { aClaimedVolume } from '../../testing/persistent-volumes.ts';
import { aPod } from '../../testing/pods.ts';
import { noTokens } from '../credential-ports.ts';
import { CsiFileVolumes } from './csi-volumes.ts';
import { DriverClient } from './driver-client.ts';
import { stagingPlace } from './volume-names.ts';

const never = new AbortController().signal;

async function realWorld(t: TestContext) {
  const rootDir = await mkdtemp(join(tmpdir(), 'tubelet-csi-'));
  t.after(() => rm(rootDir, { recursive: true, force: true }));
  const clock = new FakeClock();
  const driver = new FakeCsiDriver({ clock, targets: diskTargets });
  const paths = podPaths(rootDir, join(rootDir, 'logs'));
  const start = (): CsiFileVolumes => {
    const client = new DriverClient({
      calls: noCalls,
      clock,
      open: driver.open,
      called: () => {},
      name: csiDriverName,
      endpoint: '/s',
    });
    return new CsiFileVolumes({
      clock,
      log: silentLog,
      files: hostFiles,
      mounts: volumeHost.mounts,
      hostPaths: volumeHost.paths,
      podPaths: paths,
      rootDir,
      nodeName: 'node-1',
      drivers: { find: () => client },
      secrets: { get: async () => ({}) },
      events: { record: () => {} },
      programs: { unmount: () => assert.fail('the driver unmounts') },
      tokens: noTokens,
      hasSeLinux: false,
    });
  };
  return { rootDir, driver, start };
}

test('on a real disk: modes, records, and nothing left', async (t) => {
  const { rootDir, driver, start } = await realWorld(t);
  const pod = aPod();
  const claimed = aClaimedVolume({ kind: 'csi', csi: { driver: csiDriverName, volumeHandle: 'h', fsType: 'ext4' } });
  const volume = { name: 'v', persistentVolumeClaim: { claimName: 'data' } };
  const { hostPath } = await start().setUp({ pod, volume, claimed }, never);
  const folder = join(rootDir, 'pods/uid-1/volumes/kubernetes.io~csi/pv-data');
  assert.equal(hostPath, join(folder, 'mount'));
  const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);
  const staging = stagingPlace(rootDir, { driver: csiDriverName, handle: 'h' });
  const made = [folder, `${folder}/vol_data.json`, staging.target, staging.data];
  assert.deepEqual(await Promise.all(made.map(modeOf)), ['750', '644', '750', '644']);
  assert.match(await readFile(staging.data, 'utf8'), /^\{"driverName":"fake.csi.example.com","volumeHandle":"h"\}\n$/);

  // Agents that were killed while they wrote these.
  await writeFile(join(folder, '.vol_data.json.0123456789ab.tmp'), '{');
  await writeFile(join(staging.folder, `.${basename(staging.data)}.0123456789ab.tmp`), '{');
  const next = start();
  await next.start();
  await next.setUp({ pod, volume, claimed }, never);
  await next.tearDown({ uid: pod.uid, name: 'pv-data' });
  await next.tearDown({ uid: pod.uid, name: 'pv-data' });
  assert.deepEqual(driver.volumes.inUse(), []);
  assert.deepEqual(await readdir(join(folder, '..')), []);
  assert.deepEqual(await readdir(join(staging.folder, '..')), []);
});

test('on a real disk: a driver that leaves files behind keeps them', async (t) => {
  const { rootDir, start } = await realWorld(t);
  const pod = aPod();
  const folder = join(rootDir, 'pods/uid-1/volumes/kubernetes.io~csi/pv-data');
  await hostFiles.makeFolder(join(folder, 'mount'), 0o755);
  await hostFiles.writeFile(join(folder, 'mount/written'), 'by a user', 0o644);
  await assert.rejects(start().tearDown({ uid: pod.uid, name: 'pv-data' }), /vol_data.json is missing.*is not empty/);
  assert.equal(await readFile(join(folder, 'mount/written'), 'utf8'), 'by a user');
});
