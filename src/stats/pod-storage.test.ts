import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { ImageFsInfoResponse, ListContainerStatsResponse } from '../gen/cri/api.ts';
import { HostDisk } from '../host/disk-usage.ts';
import { podPaths } from '../model/pod-paths.ts';
import { anInstance, aPod, aSandbox, observedPod } from '../testing/pods.ts';
import { StatsWorld } from '../testing/stats-world.ts';
import type { PodVolume } from './ports.ts';
import type { Stats } from './stats.ts';

const root = mkdtempSync(join(tmpdir(), 'tubelet-storage-'));
after(() => rmSync(root, { recursive: true, force: true }));

const uid = podUid('u1');
const paths = podPaths(join(root, 'kubelet'), join(root, 'logs'));
const logs = paths.podLogs({ namespace: 'default', name: 'web', uid });
const volume = (kind: string, name: string): string => paths.volume(uid, `kubernetes.io~${kind}`, name);
const images = join(root, 'images');
const layerBytes = 45_056;

/** What du(1) says the paths take together, folders that are named themselves included. */
function du(...all: readonly string[]): { bytes: number; inodes: number } {
  const sum = (options: readonly string[]): number =>
    execFileSync('du', ['-s', ...options, '--', ...all], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .reduce((total, line) => total + Number(line.split('\t')[0]), 0);
  return { bytes: sum(['--block-size=1']), inodes: sum(['--inodes']) };
}

function write(path: string, bytes: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.alloc(bytes, 1));
}

/** A pod's files as they come to be on a node, with what makes counting hard: links, and files with two names. */
function makePod(): void {
  const scratch = volume('empty-dir', 'scratch');
  write(join(scratch, 'deep/er/file'), 100_000);
  write(join(scratch, 'sparse-not'), 5_000);
  linkSync(join(scratch, 'sparse-not'), join(scratch, 'deep/second-name'));
  symlinkSync('/usr', join(scratch, 'link'));
  write(join(volume('configmap', 'config'), '..2026_01_02_03_04_05.1/key'), 3_000);
  symlinkSync('..2026_01_02_03_04_05.1', join(volume('configmap', 'config'), '..data'));
  write(join(logs, 'main/0.log'), 20_000);
  write(join(logs, 'main/0.log.20260102-030405.gz'), 7_000);
  write(join(logs, 'beside.txt'), 100);
  write(paths.etcHosts(uid), 200);
  write(join(paths.container(uid, 'main'), '0badcafe'), 9_000);
  write(join(root, 'claim/file'), 50_000);
  mkdirSync(images);
}

const volumes: readonly PodVolume[] = [
  { name: 'scratch', path: volume('empty-dir', 'scratch'), kind: 'ephemeral' },
  { name: 'config', path: volume('configmap', 'config'), kind: 'ephemeral' },
  { name: 'data', path: join(root, 'claim'), kind: 'persistent', origin: 'elsewhere' },
];

function statsOf(world: StatsWorld, imageDevice = '/dev/node'): Stats {
  const layer = { usedBytes: { value: BigInt(layerBytes) }, inodesUsed: { value: 14n }, fsId: { mountpoint: images } };
  world.pods = [
    {
      pod: aPod({ uid, name: 'web' }),
      startTime: undefined,
      seen: observedPod([aSandbox('s1')], [anInstance('main', { id: 'c1' })], uid),
    },
  ];
  world.runtime = {
    stats: ListContainerStatsResponse.fromPartial({ stats: [{ attributes: { id: 'c1' }, writableLayer: layer }] }),
    images: ImageFsInfoResponse.fromPartial({ imageFilesystems: [layer] }),
  };
  world.volumes.set(uid, volumes);
  const disk = new HostDisk(world.clock);
  return world.stats(
    { rootDir: root },
    {
      paths,
      disk: {
        filesystem: (path) => disk.filesystem(path),
        filesystems: () => disk.filesystems(),
        device: (path) => (path === images ? imageDevice : '/dev/node'),
        tree: (path, signal) => disk.tree(path, signal),
        folders: (path, signal) => disk.folders(path, signal),
        isMountPoint: (path) => disk.isMountPoint(path),
      },
    },
  );
}

describe('what a pod takes of a real disk', () => {
  makePod();
  const logFiles = [join(logs, 'main/0.log'), join(logs, 'main/0.log.20260102-030405.gz')];
  const own = [paths.etcHosts(uid), join(paths.container(uid, 'main'), '0badcafe')];
  const sum = du(...volumes.slice(0, 2).map(({ path }) => path), ...logFiles, join(logs, 'beside.txt'), ...own);

  test('is what du(1) counts: volumes on disk, logs, our own files, and what the runtime says of layers', async () => {
    const world = new StatsWorld();
    const usage = (await statsOf(world).storage(new Map([[uid, 'everything' as const]]))).get(uid);
    assert.equal(usage?.ephemeral, sum.bytes + layerBytes);
    assert.equal(usage?.volumes.get('scratch'), du(volume('empty-dir', 'scratch')).bytes);
    assert.equal(usage?.volumes.has('data'), false, 'what comes from elsewhere is no pod’s ephemeral storage');
    assert.equal(usage?.containers.get('main'), du(...logFiles).bytes + layerBytes);
  });

  test('layers on a disk of their own do not count against a container, as kubelets have it', async () => {
    const stats = statsOf(new StatsWorld(), '/dev/images');
    const usage = (await stats.storage(new Map([[uid, 'everything' as const]]))).get(uid);
    assert.equal(usage?.containers.get('main'), du(...logFiles).bytes);
    assert.equal(usage?.ephemeral, sum.bytes + layerBytes, 'but against the pod');
  });

  test('the same stands in the summary, inodes and all', async () => {
    const world = new StatsWorld();
    for (const path of ['/', '/kubepods/besteffort/podu1/c1']) world.cgroups.set(path, { cpuNs: 1 });
    const answer = statsOf(world).summary({ onlyCpuAndMemory: false }, new AbortController().signal);
    await world.clock.advance(200);
    const [pod] = (await answer).pods;
    const storage = pod?.['ephemeral-storage'];
    assert.deepEqual([storage?.usedBytes, storage?.inodesUsed], [sum.bytes + layerBytes, sum.inodes + 14]);
    const all = new Map(pod?.volume?.map(({ name, usedBytes, inodesUsed }) => [name, [usedBytes, inodesUsed]]));
    const { bytes, inodes } = du(volume('configmap', 'config'));
    assert.deepEqual(all.get('config'), [bytes, inodes]);
  });
});
