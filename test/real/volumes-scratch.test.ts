import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { podUid } from '../../src/base/ids.ts';
import { volumeHost } from '../../src/host/index.ts';
import { podPaths } from '../../src/model/pod-paths.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { emptyDir, ScratchFolders } from '../../src/volumes/index.ts';
import { RealNode } from '../support/real-node.ts';
import { podWhen, shell } from '../support/real-pods.ts';
import type { Program } from '../support/real-program.ts';
import { look, mountPath, mountsAt, mountsIn, VolumePods, wordsIn } from '../support/real-volumes.ts';
import { clock } from '../support/real-wait.ts';
import { placeOf } from '../support/volume-race/bait.ts';

/** emptyDir volumes, seen from inside containers: what they are on, who may write, how much fits. */
let node: RealNode;
let agent: Program;
let pods: VolumePods;
before(async () => {
  node = await RealNode.start('scratch');
  pods = new VolumePods(node, () => agent);
  putDisk();
  putMemory();
  putRights();
  agent = await node.workingAgent();
});
after(() => node?.destroy());

/** Rights that a mount could take away, and that an emptyDir leaves. */
const taken = (options: readonly string[]): readonly string[] =>
  options.filter((option) => ['ro', 'noexec', 'nosuid', 'nodev'].includes(option));

function putDisk(): void {
  const script = [
    look('/disk /limited /kept'),
    mountsAt('/disk', '/limited'),
    // Nothing keeps a program from running here.
    `printf '#!/bin/sh\\necho ran\\n' > /disk/program && chmod 755 /disk/program && /disk/program`,
    // A limit on disk is for the node to watch, not for the file system.
    'dd if=/dev/zero of=/limited/much bs=1M count=2 2>/dev/null && echo fits',
  ];
  pods.putScript('disk', script, {
    volumes: [
      { name: 'disk', emptyDir: {} },
      { name: 'limited', emptyDir: { sizeLimit: '100Mi' } },
      { name: 'kept', emptyDir: { medium: '' } },
    ],
  });
}

function putMemory(): void {
  const script = [
    look('/small /bound /large'),
    mountsAt('/small', '/bound', '/large'),
    'dd if=/dev/zero of=/small/much bs=1M count=2 2>&1 | grep -o "No space left on device"',
    `printf '#!/bin/sh\\necho ran\\n' > /bound/program && chmod 755 /bound/program && /bound/program`,
  ];
  pods.putScript('memory', script, {
    volumes: [
      { name: 'small', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      { name: 'bound', emptyDir: { medium: 'Memory' } },
      { name: 'large', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    ],
    container: {
      resources: { limits: { memory: '64Mi' } },
      volumeMounts: ['small', 'bound', 'large'].map((name) => mountPath(name)),
    },
  });
  pods.putScript('free-memory', [mountsAt('/ram')], { volumes: [{ name: 'ram', emptyDir: { medium: 'Memory' } }] });
}

function putRights(): void {
  const volumes = [
    { name: 'disk', emptyDir: {} },
    { name: 'ram', emptyDir: { medium: 'Memory' } },
  ];
  const writes = 'touch /disk/mine /ram/mine && mkdir /disk/folder && stat -c "%a %u:%g %n" /disk/* /ram/*';
  const reads = [
    mountsAt('/disk', '/ram'),
    'while [ ! -e /disk/folder ]; do sleep 0.1; done; touch /disk/no 2>&1; touch /ram/no 2>&1; ls /ram; true',
  ];
  for (const [name, policy] of [
    ['always', 'Always'],
    ['on-mismatch', 'OnRootMismatch'],
  ] as const) {
    const securityContext = { runAsUser: 1_000, runAsGroup: 2_000, fsGroup: 3_000, fsGroupChangePolicy: policy };
    pods.put(name, {
      securityContext,
      volumes,
      containers: [
        shell('main', node.image, [look('/disk /ram'), writes, 'id -G'].join('\n'), {
          volumeMounts: volumes.map((volume) => mountPath(volume.name)),
        }),
        shell('reader', node.image, reads.join('\n'), {
          volumeMounts: volumes.map((volume) => mountPath(volume.name, { readOnly: true })),
        }),
      ],
    });
  }
  pods.putScript('medium', ['true'], { volumes: [{ name: 'odd', emptyDir: { medium: 'Punchcards' } }] });
}

describe('an emptyDir', () => {
  test('on disk is a folder of the pod, for everybody to write and to run programs in', async () => {
    const words = await pods.said('disk');
    assert.deepEqual(wordsIn(words), ['777 0:0 /disk', '777 0:0 /limited', '777 0:0 /kept', 'ran', 'fits']);
    const uid = (await node.pod('disk'))?.metadata?.uid ?? '';
    for (const name of ['disk', 'limited']) {
      const mount = mountsIn(words).get(`/${name}`);
      const home = placeOf(realpathSync(node.names.kubeletRoot));
      const root = join(home.path, 'pods', uid, 'volumes/kubernetes.io~empty-dir', name);
      assert.deepEqual([mount?.device, mount?.root], [home.device, root]);
      assert.deepEqual([taken(mount?.options ?? ['none']), mount?.optionalFields], [[], []]);
    }
  });

  test('in memory holds no more than its limit and what the pod may have, and is not swapped out', async () => {
    const words = await pods.said('memory');
    const folders = ['1777 0:0 /small', '1777 0:0 /bound', '1777 0:0 /large'];
    assert.deepEqual(wordsIn(words), [...folders, 'No space left on device', 'ran']);
    for (const [path, size] of [
      ['/small', 'size=1024k'],
      ['/bound', 'size=65536k'],
      ['/large', 'size=65536k'],
    ] as const) {
      const mount = mountsIn(words).get(path);
      assert.deepEqual([mount?.fsType, mount?.root, taken(mount?.options ?? ['none'])], ['tmpfs', '/', []], path);
      assert.deepEqual(
        mount?.superOptions.filter((option) => /^(rw|size=.*|noswap)$/.test(option)),
        ['rw', size, ...(canNoSwap() ? ['noswap'] : [])],
      );
    }
  });

  test('in memory without any limit has what pods of the node have', async () => {
    const [option = ''] = (mountsIn(await pods.said('free-memory')).get('/ram')?.superOptions ?? []).filter((each) =>
      each.startsWith('size='),
    );
    const [, kilobytes = '0'] = /^size=(\d+)k$/.exec(option) ?? [];
    const total = Number(/^MemTotal:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]);
    // The node keeps something for itself, and no more than a tenth here.
    assert.ok(Number(kilobytes) <= total && Number(kilobytes) > total * 0.9, `${option} of ${total}k`);
  });

  for (const name of ['always', 'on-mismatch']) {
    test(`belongs to the group of its pod (${name}); a container may have it for reading alone`, async () => {
      assert.deepEqual(await pods.said(name), [
        '2777 0:3000 /disk',
        '3777 0:3000 /ram',
        '2755 1000:3000 /disk/folder',
        '644 1000:3000 /disk/mine',
        '644 1000:3000 /ram/mine',
        '2000 3000',
      ]);
      const words = await pods.said(name, 'reader');
      assert.deepEqual(wordsIn(words), [
        'touch: /disk/no: Read-only file system',
        'touch: /ram/no: Read-only file system',
        'mine',
      ]);
      const mounts = mountsIn(words);
      assert.deepEqual(
        [...mounts.values()].map(({ options }) => taken(options)),
        [['ro'], ['ro']],
      );
    });
  }

  test('on something that nobody has is refused by its name', async () => {
    await pods.told('MountVolume.SetUp failed for volume "odd" : unknown storage medium "Punchcards"');
  });
});

describe('an emptyDir in huge pages', () => {
  const pages = Number(readFileSync('/proc/sys/vm/nr_hugepages', 'utf8'));

  test('is a hugetlbfs with pages of the size that the pod asked for, as its containers see it', async () => {
    const folder = join(node.path, 'huge');
    const paths = podPaths(folder, join(folder, 'logs'));
    mkdirSync(folder);
    const memory = () => ({ allocatable: {}, noSwap: false });
    const scratch = new ScratchFolders(volumeHost, paths);
    const events = { record: () => assert.fail('nothing to tell') };
    const plugin = emptyDir({ clock, scratch, paths: volumeHost.paths, memory, events });
    const uid = podUid('huge');
    const volume = { name: 'huge', emptyDir: { medium: 'HugePages-2Mi' } };
    const limits = { 'hugepages-2Mi': '4Mi', memory: '64Mi' };
    const pod = aPod({ uid, spec: { volumes: [volume], containers: [aContainer('main', { resources: { limits } })] } });
    const { hostPath } = await plugin.setUp({ pod, volume }, new AbortController().signal);
    try {
      // The mount takes no pages from anybody, so that it can be shown also where there are none.
      const volumes = [{ name: 'huge', hostPath: { path: hostPath } }];
      pods.putScript('huge-shown', [mountsAt('/huge'), look('/huge')], { volumes });
      const words = await pods.said('huge-shown');
      const mount = mountsIn(words).get('/huge');
      assert.deepEqual([mount?.fsType, taken(mount?.options ?? ['none'])], ['hugetlbfs', []]);
      assert.deepEqual(mount?.superOptions, ['rw', 'pagesize=2M']);
      await node.remove('huge-shown');
    } finally {
      await plugin.tearDown?.({ uid, name: 'huge' });
    }
    assert.deepEqual(await volumeHost.mounts.atOrBelow(folder), []);
  });

  test('of a pod on a node that has some', { skip: pages > 0 ? false : 'this machine has no huge pages' }, async () => {
    const limits = { 'hugepages-2Mi': '2Mi', memory: '64Mi' };
    const volumes = [{ name: 'huge', emptyDir: { medium: 'HugePages' } }];
    const container = { resources: { limits }, volumeMounts: [mountPath('huge')] };
    pods.putScript('huge', [mountsAt('/huge')], { volumes, container });
    assert.equal(mountsIn(await pods.said('huge')).get('/huge')?.fsType, 'hugetlbfs');
  });

  test('of a pod on a node that has none: the pod is not taken', { skip: pages > 0 && 'there are some' }, async () => {
    const limits = { 'hugepages-2Mi': '2Mi', memory: '64Mi' };
    const volumes = [{ name: 'huge', emptyDir: { medium: 'HugePages-2Mi' } }];
    pods.putScript('no-pages', ['true'], {
      volumes,
      container: { resources: { limits }, volumeMounts: [mountPath('huge')] },
    });
    const pod = await podWhen(node, 'no-pages', 'is refused', ({ status }) => status?.phase === 'Failed');
    // A static pod is one that others would have to make room for, and none has any to give.
    assert.equal(pod.status?.reason, 'UnexpectedAdmissionError');
    assert.match(pod.status?.message ?? '', /no set of running pods found to reclaim resources: .*hugepages-2Mi/);
  });
});

/** Since Linux 6.4. */
function canNoSwap(): boolean {
  const [major = 0, minor = 0] = readFileSync('/proc/sys/kernel/osrelease', 'utf8').split('.').map(Number);
  return major > 6 || (major === 6 && minor >= 4);
}
