import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { MemoryFiles } from '../../testing/memory-files.ts';
import { aPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { PodDirectories } from './pod-directories.ts';

const pod = aPod();
const other = aPod({ uid: 'uid-2', name: 'other' });

function setUp() {
  const files = new MemoryFiles();
  const paths = podPaths('/var/lib/kubelet', '/var/log/pods');
  return {
    files,
    directories: new PodDirectories({
      files,
      random: seededRandom(1),
      paths,
      beforeRemoval: async () => {},
      onRemoved: () => {},
    }),
  };
}

describe('what is made', () => {
  test('the folders of a pod, again and again', async () => {
    const { files, directories } = setUp();
    await directories.prepare(pod.uid);
    await directories.prepare(pod.uid);
    assert.deepEqual(files.tree('/var/lib/kubelet/pods'), ['750 uid-1', '750 uid-1/plugins', '750 uid-1/volumes']);
  });

  test('the hosts file, readable by all', async () => {
    const { files, directories } = setUp();
    await directories.prepare(pod.uid);
    const path = await directories.writeHosts(pod.uid, '127.0.0.1 localhost\n');
    assert.equal(path, '/var/lib/kubelet/pods/uid-1/etc-hosts');
    assert.equal(await files.readText(path), '127.0.0.1 localhost\n');
    assert.equal(files.tree('/var/lib/kubelet/pods/uid-1').includes('644 etc-hosts'), true);
    await directories.writeHosts(pod.uid, 'changed\n');
    assert.equal(await files.readText(path), 'changed\n');
  });

  test('a message file of its own for each start, writable by all', async () => {
    const { files, directories } = setUp();
    await directories.prepare(pod.uid);
    await directories.makeContainerFolder(pod.uid, 'main');
    const made = [
      await directories.makeTerminationLog(pod.uid, 'main'),
      await directories.makeTerminationLog(pod.uid, 'main'),
    ];
    assert.equal(new Set(made).size, 2);
    for (const path of made) {
      assert.match(path, /^\/var\/lib\/kubelet\/pods\/uid-1\/containers\/main\/[0-9a-f]{8}$/);
      assert.equal(await files.readText(path), '');
    }
    const tree = files.tree('/var/lib/kubelet/pods/uid-1/containers');
    assert.deepEqual(
      tree.map((line) => line.split(' ')[0]),
      ['666', '666', '750'],
    );
  });

  test('the log folders; the highest number there is answered', async () => {
    const { files, directories } = setUp();
    assert.equal(await directories.prepareLogs(pod, 'main'), undefined);
    assert.deepEqual(files.tree('/var/log/pods'), ['755 default_web_uid-1', '755 default_web_uid-1/main']);
    await files.writeFile('/var/log/pods/default_web_uid-1/main/2.log', 'x', 0o640);
    assert.equal(await directories.prepareLogs(pod, 'main'), 2);
    assert.equal(await directories.prepareLogs(pod, 'side'), undefined);
  });

  test('the hosts file of the node is read where it is', async () => {
    const { files, directories } = setUp();
    await files.makeFolder('/etc', 0o755);
    await files.writeFile('/etc/hosts', '127.0.0.1 node\n', 0o644);
    assert.equal(await directories.readNodeHosts(), '127.0.0.1 node\n');
  });
});

test('the number of a log is that before .log, whatever comes after', async () => {
  const cases: readonly (readonly [readonly string[], number | undefined])[] = [
    [[], undefined],
    [['0.log'], 0],
    [['0.log', '9.log', '10.log'], 10],
    [['3.log.20261115-101112.gz', '2.log'], 3],
    [['3.log.20261115-101112.tmp'], 3],
    [['app.log', 'x3.log', '3.txt', 'notes'], undefined],
  ];
  for (const [names, expected] of cases) {
    const { files, directories } = setUp();
    for (const name of names) files.append(`/var/log/pods/default_web_uid-1/main/${name}`, '');
    assert.equal(await directories.prepareLogs(pod, 'main'), expected, names.join(' '));
  }
});

test('the highest restart count among half a million names, of which none is kept', async () => {
  const { files, directories } = setUp();
  let kept = 0;
  files.list = async (_path, keep) => {
    for (let count = 0; count < 500_000; count++) if (keep?.(`${count}.log`)) kept++;
    // No container was ever restarted that often.
    if (keep?.('99999999999.log')) kept++;
    return [];
  };
  assert.equal(await directories.prepareLogs(pod, 'main'), 499_999);
  assert.equal(kept, 0);
});

test('of very many log folders some are taken up at a time', async () => {
  const { files, directories } = setUp();
  files.list = async (path, keep) => {
    if (path !== '/var/log/pods') return [];
    for (let count = 0; count < 50_000; count++) keep?.(`ns_pod_uid-${count}`);
    return [];
  };
  assert.equal((await directories.uids()).size, 10_000);
});

describe('removal', () => {
  async function twoPods() {
    const world = setUp();
    for (const each of [pod, other]) {
      await world.directories.prepare(each.uid);
      await world.directories.writeHosts(each.uid, 'hosts');
      await world.directories.prepareLogs(each, 'main');
    }
    return world;
  }

  test('takes everything of the pod and nothing of others', async () => {
    const { files, directories } = await twoPods();
    await directories.remove(pod.uid);
    assert.deepEqual(
      files.tree('/var').filter((line) => line.includes('uid-1')),
      [],
    );
    assert.deepEqual(files.tree('/var/log/pods'), ['755 default_other_uid-2', '755 default_other_uid-2/main']);
    assert.equal(files.tree('/var/lib/kubelet/pods').includes('644 uid-2/etc-hosts'), true);
    await directories.remove(pod.uid);
  });

  test('logs of a pod without a directory are found by their folder', async () => {
    const { files, directories } = await twoPods();
    await files.removeTree('/var/lib/kubelet/pods/uid-1');
    assert.deepEqual([...(await directories.uids())].toSorted(), ['uid-1', 'uid-2']);
    await directories.remove(podUid('uid-1'));
    assert.deepEqual([...(await directories.uids())], ['uid-2']);
  });

  test('folders among the logs that are no pod’s are left alone', async () => {
    const { files, directories } = await twoPods();
    await files.makeFolder('/var/log/pods/lost+found', 0o700);
    await files.makeFolder('/var/log/pods/a_b', 0o755);
    assert.deepEqual([...(await directories.uids())].toSorted(), ['uid-1', 'uid-2']);
    await directories.remove(pod.uid);
    assert.equal(files.tree('/var/log/pods').includes('700 lost+found'), true);
  });

  test('a directory that cannot be removed keeps its logs until it can', async () => {
    const { files, directories } = await twoPods();
    files.fault = (operation, path) => {
      if (operation === 'removeTree' && path.endsWith('pods/uid-1')) throw new Error('a volume is still mounted');
    };
    await assert.rejects(directories.remove(pod.uid), /still mounted/);
    assert.equal(files.tree('/var/log/pods').includes('755 default_web_uid-1/main'), true);
    files.fault = () => {};
    await directories.remove(pod.uid);
    assert.deepEqual([...(await directories.uids())], ['uid-2']);
  });

  test('leaves volumes that are mounted or hold anything, with all that is above them, and names them', async () => {
    const { files, directories } = await twoPods();
    const volumes = '/var/lib/kubelet/pods/uid-1/volumes';
    for (const volume of ['kubernetes.io~nfs/pv', 'example.com~odd/data', 'kubernetes.io~csi/empty']) {
      await files.makeFolder(`${volumes}/${volume}`, 0o750);
    }
    files.mounts.set(`${volumes}/kubernetes.io~nfs/pv`, ['bind /on/server:/x']);
    await files.writeFile(`${volumes}/example.com~odd/data/precious`, 'x', 0o600);
    const left =
      `volumes are left: ${volumes}/example.com~odd/data is not empty, ` +
      `${volumes}/kubernetes.io~nfs/pv is still mounted`;
    await assert.rejects(directories.remove(pod.uid), { message: left });
    await assert.rejects(
      directories.remove(pod.uid),
      { message: left },
      'with the same message, so that it is logged once',
    );
    assert.equal(files.has(`${volumes}/example.com~odd/data/precious`), true);
    assert.equal(files.has('/var/lib/kubelet/pods/uid-1/etc-hosts'), true);
    assert.equal(files.has(`${volumes}/kubernetes.io~csi/empty`), false);
    files.mounts.clear();
    files.forget(`${volumes}/example.com~odd/data/precious`);
    await directories.remove(pod.uid);
    assert.deepEqual([...(await directories.uids())], ['uid-2']);
  });

  test('is reported when the directory was removed, before a pod that comes back has one again', async () => {
    const events: string[] = [];
    const files = new MemoryFiles();
    const directories = new PodDirectories({
      files,
      random: seededRandom(1),
      paths: podPaths('/var/lib/kubelet', '/var/log/pods'),
      beforeRemoval: async () => {},
      onRemoved: (uid) => void events.push(`removed ${uid} ${files.has(`/var/lib/kubelet/pods/${uid}`)}`),
    });
    await directories.prepare(pod.uid);
    files.fault = (operation) => {
      if (operation === 'removeTree') throw new Error('a volume is still mounted');
    };
    await assert.rejects(directories.remove(pod.uid), /still mounted/);
    assert.equal(events.length, 0);
    files.fault = () => {};
    const removal = directories.remove(pod.uid);
    await directories.prepare(pod.uid);
    events.push('prepared');
    await removal;
    assert.deepEqual(events, ['removed uid-1 false', 'prepared']);
  });

  test('without folders there are no uids', async () => {
    const { directories } = setUp();
    assert.equal((await directories.uids()).size, 0);
  });
});
