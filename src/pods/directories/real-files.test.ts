import assert from 'node:assert/strict';
import { lstat, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { hostFiles } from '../../host/files.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { aPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { PodDirectories } from './pod-directories.ts';

const pod = aPod();
let root = '';
let umask = 0;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'pod-directories-'));
  umask = process.umask();
});
after(async () => {
  process.umask(umask);
  await hostFiles.removeTree(root);
});

/** Every path below with its mode in octal. */
async function tree(folder: string): Promise<string[]> {
  const lines: string[] = [];
  const walk = async (path: string): Promise<void> => {
    for (const name of await readdir(path)) {
      const entry = join(path, name);
      const { mode } = await lstat(entry);
      lines.push(`${(mode & 0o7777).toString(8)} ${relative(folder, entry)}`);
      if ((await lstat(entry)).isDirectory()) await walk(entry);
    }
  };
  await walk(folder);
  return lines.toSorted();
}

for (const mask of [0o000, 0o022, 0o077]) {
  test(`modes are exact under umask ${mask.toString(8).padStart(3, '0')}`, async () => {
    process.umask(mask);
    const home = join(root, `umask-${mask}`);
    await hostFiles.makeFolder(home, 0o755);
    const paths = podPaths(join(home, 'lib'), join(home, 'logs'));
    const directories = new PodDirectories({
      files: hostFiles,
      random: seededRandom(1),
      paths,
      beforeRemoval: async () => {},
      onRemoved: () => {},
    });
    await directories.prepare(pod.uid);
    await directories.writeHosts(pod.uid, 'hosts\n');
    await directories.makeContainerFolder(pod.uid, 'main');
    const message = await directories.makeTerminationLog(pod.uid, 'main');
    await directories.prepareLogs(pod, 'main');
    const random = message.slice(-8);
    assert.deepEqual(await tree(home), [
      `644 lib/pods/uid-1/etc-hosts`,
      `666 lib/pods/uid-1/containers/main/${random}`,
      '750 lib',
      '750 lib/pods',
      '750 lib/pods/uid-1',
      '750 lib/pods/uid-1/containers',
      '750 lib/pods/uid-1/containers/main',
      '750 lib/pods/uid-1/plugins',
      '750 lib/pods/uid-1/volumes',
      '755 logs',
      '755 logs/default_web_uid-1',
      '755 logs/default_web_uid-1/main',
    ]);
    await directories.remove(pod.uid);
    assert.deepEqual(await tree(home), ['750 lib', '750 lib/pods', '755 logs']);
  });
}

test('removal follows no link out of the pod', async () => {
  process.umask(0o022);
  const paths = podPaths(join(root, 'lib'), join(root, 'logs'));
  const directories = new PodDirectories({
    files: hostFiles,
    random: seededRandom(1),
    paths,
    beforeRemoval: async () => {},
    onRemoved: () => {},
  });
  const treasure = join(root, 'treasure');
  await hostFiles.makeFolder(treasure, 0o755);
  await writeFile(join(treasure, 'gold'), 'gold');
  await hostFiles.makeFolder(join(treasure, 'empty'), 0o755);
  await directories.prepare(pod.uid);
  await directories.prepareLogs(pod, 'main');
  await symlink(treasure, join(paths.volumes(pod.uid), 'link'));
  await hostFiles.makeFolder(join(paths.volumes(pod.uid), 'kubernetes.io~odd'), 0o750);
  await symlink(join(treasure, 'empty'), join(paths.volumes(pod.uid), 'kubernetes.io~odd/link'));
  await symlink(treasure, join(paths.podLogs(pod), 'link'));
  await directories.remove(pod.uid);
  assert.deepEqual((await readdir(treasure)).toSorted(), ['empty', 'gold']);
  assert.equal((await directories.uids()).size, 0);
});
