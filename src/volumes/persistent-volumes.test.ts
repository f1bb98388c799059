import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../base/errors.ts';
import type { PodSpec, Volume } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import { aClaim } from '../testing/persistent-volumes.ts';
import { persistentWorld } from '../testing/persistent-world.ts';
import { aContainer, aPod } from '../testing/pods.ts';

const never = new AbortController().signal;
const data: Volume = { name: 'v', persistentVolumeClaim: { claimName: 'data' } };

const using = (
  volumes: readonly Volume[],
  spec: Partial<PodSpec> = {},
  who: { uid?: string; name?: string } = {},
): DesiredPod =>
  aPod({
    ...who,
    spec: {
      volumes,
      containers: [aContainer('main', { volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) })],
      ...spec,
    },
  });
const pod = using([data]);
const volumes = '/k/pods/uid-1/volumes';
const waits = (why: string): string =>
  `Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: ${why}`;

describe('a claim', () => {
  test('to a path of the node is that path, under the name of its volume', async () => {
    const { api, start } = persistentWorld();
    api.put('data', { hostPath: { path: '/srv' } }, { 'pv.beta.kubernetes.io/gid': '77' });
    const manager = start();
    await manager.mount(pod, never);
    const ready = { hostPath: '/srv', isOfNode: true, innerName: 'pv-data', gid: 77 };
    assert.deepEqual(Object.fromEntries(manager.mounted(pod.uid)), { v: ready });
    assert.deepEqual(manager.extraGroups(pod), [77]);
    assert.deepEqual(manager.extraGroups(using([data], { securityContext: { supplementalGroups: [77] } })), []);
    await manager.mount(pod, never);
    assert.equal(api.asked.length, 2, 'a binding is asked for once');
  });

  test('that is not bound yet delays the pod, is reported once, and read again', async () => {
    const { api, start, events, clock, woken } = persistentWorld();
    api.put('data', { hostPath: { path: '/srv' } });
    api.objects.set('persistentvolumeclaims/data', aClaim('data', { status: { phase: 'Pending' } }));
    const manager = start();
    const message = waits('error processing PVC default/data: PVC is not bound');
    await assert.rejects(manager.mount(pod, never), { message });
    await assert.rejects(manager.mount(pod, never), { message });
    assert.deepEqual([api.asked.length, events], [1, [`Warning FailedMount: ${message}`]]);
    for (let round = 0; round < 8; round++) {
      await clock.advance(11_000);
      await assert.rejects(manager.mount(pod, never));
    }
    const pauses = woken.map((at, index) => at - index * 11_000);
    assert.deepEqual(pauses, [500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]);
    api.objects.set('persistentvolumeclaims/data', aClaim('data'));
    await clock.advance(11_000);
    await manager.mount(pod, never);
    assert.deepEqual([...manager.mounted(pod.uid).keys()], ['v']);
  });

  test("that the API server refuses because it does not know the pod's node yet is retried before it is reported", async () => {
    const { api, start, events, clock } = persistentWorld();
    api.put('data', { hostPath: { path: '/srv' } });
    const words = 'persistentvolumeclaims "data" is forbidden: no relationship found between node and this object';
    const refuse = (): void => {
      throw new TubeletError('denied', words, { remoteMessage: words });
    };
    api.fault = refuse;
    const manager = start();
    const message = waits(`error processing PVC default/data: failed to fetch PVC from API server: ${words}`);
    await assert.rejects(manager.mount(pod, never), { message });
    await clock.advance(500);
    await assert.rejects(manager.mount(pod, never), { message });
    assert.deepEqual([api.asked.length, events], [2, []]);
    // Who is refused for longer will hardly be let in.
    await clock.advance(1_000);
    await assert.rejects(manager.mount(pod, never), { message });
    assert.deepEqual([api.asked.length, events], [3, [`Warning FailedMount: ${message}`]]);
    api.fault = () => {};
    await clock.advance(2_000);
    await manager.mount(pod, never);
    assert.equal(events.length, 1);
  });

  test('of another node, and one with unsupported options, are reported by their step', async () => {
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'host', operator: 'In', values: ['n2'] }] }] };
    for (const [spec, words] of [
      [
        { nodeAffinity: { required } },
        'MountVolume.NodeAffinity check failed for volume "pv-data" : no matching NodeSelectorTerms',
      ],
      [
        { mountOptions: ['hard'] },
        'MountVolume.MountOptionSupport check failed for volume "pv-data" : mount options are not supported for this volume type',
      ],
    ] as const) {
      const { api, start, events, clock } = persistentWorld({ labels: { host: 'n1' } });
      api.put('data', { hostPath: { path: '/srv' }, ...spec });
      const manager = start();
      await assert.rejects(manager.mount(pod, never));
      assert.deepEqual(events, [`Warning FailedMount: ${words}`]);
      await clock.advance(500);
      await assert.rejects(manager.mount(pod, never));
      assert.equal(api.asked.length, 4, 'what could not be used is asked for again');
    }
  });

  test('to a kind that only a driver can serve is refused by name', async () => {
    for (const [spec, words] of [
      [{ fc: { lun: 1 } }, /"pv-data" is of a kind that this version cannot mount: fc\. Use a CSI driver, /],
      [{ portworxVolume: { volumeID: 'x' } }, /cannot mount: portworxVolume\. Use the CSI driver pxd\.portworx\.com, /],
    ] as const) {
      const { api, start, files } = persistentWorld();
      api.put('data', spec);
      await assert.rejects(start().mount(pod, never), { kind: 'unsupported', message: words });
      assert.deepEqual(files.tree('/k'), [], 'nothing was made');
    }
  });

  test('on a node without a cluster is refused before anything is made', async () => {
    const { start, files } = persistentWorld({ cluster: false });
    const both = using([{ name: 'cache', emptyDir: {} }, data]);
    await assert.rejects(start().mount(both, never), /this node is part of no cluster that could have one/);
    assert.deepEqual(files.tree('/k'), []);
  });

  test('to a driver’s volume is in use from the moment it is known until it is torn down', async () => {
    let fail = true;
    const calls: string[] = [];
    const { api, start, files, clock } = persistentWorld({
      csi: {
        async setUp({ claimed }) {
          if (fail) throw new Error('not attached');
          await files.makeFolder(`${volumes}/kubernetes.io~csi/${claimed?.name ?? ''}`, 0o750);
          return { hostPath: '/there' };
        },
        tearDown: async ({ name }) => void calls.push(name),
        attachable: ({ source }) => (source.kind === 'csi' ? `kubernetes.io/csi/${source.csi.driver}^h` : undefined),
      },
    });
    api.put('data', { csi: { driver: 'd', volumeHandle: 'h' } });
    const manager = start();
    assert.deepEqual(manager.attachable(), []);
    await assert.rejects(manager.mount(pod, never), /not attached/);
    assert.deepEqual(manager.attachable(), ['kubernetes.io/csi/d^h']);
    fail = false;
    await clock.advance(500);
    await manager.mount(pod, never);
    assert.deepEqual(manager.attachable(), ['kubernetes.io/csi/d^h']);
    await manager.unmount(pod);
    assert.deepEqual([manager.attachable(), calls], [[], ['pv-data']]);
  });
});

/** Kinds that are mounted, with what is behind them and where that is on the disk of the test. */
const kinds = [
  {
    kind: 'local folder',
    spec: { local: { path: '/mnt/disk' } },
    source: '/mnt/disk',
    point: 'kubernetes.io~local-volume',
  },
  {
    kind: 'local device',
    spec: { local: { path: '/dev/sdb' } },
    source: '/on//dev/sdb',
    point: 'kubernetes.io~local-volume',
  },
  { kind: 'nfs', spec: { nfs: { server: 's', path: '/e' } }, source: '/on/s:/e', point: 'kubernetes.io~nfs' },
] as const;

/** The disk of the test has no devices: one is put where it should be. */
function world({ spec, source }: (typeof kinds)[number]) {
  const made = persistentWorld();
  const { files, api, host } = made;
  api.put('data', spec);
  files.append(`${source}/precious`, 'data');
  files.append(`${source}/deep/er`, 'data');
  const stat = host.paths.stat.bind(host.paths);
  host.paths.stat = async (path) =>
    path === '/dev/sdb' ? { kind: 'blockDevice', mode: 0o660, uid: 0, gid: 6 } : stat(path);
  const intact = (): boolean => files.has(`${source}/precious`) && files.has(`${source}/deep/er`);
  return { ...made, intact };
}

const grouped = using([data], { securityContext: { fsGroup: 7 } });

for (const each of kinds) {
  describe(each.kind, () => {
    const target = `${volumes}/${each.point}/pv-data`;

    test('is shown to the pod, and unmounted after it with nothing of its own removed', async () => {
      const { files, start, intact } = world(each);
      const manager = start();
      await manager.mount(pod, never);
      assert.equal(manager.mounted(pod.uid).get('v')?.hostPath, target);
      assert.deepEqual((await files.list(target)).toSorted(), ['deep', 'precious']);
      await manager.unmount(pod);
      assert.deepEqual([files.mounts.size, files.has(target), intact()], [0, false, true]);
      assert.deepEqual(
        files.tree('/k/plugins').filter((line) => line.includes('pv-data')),
        [],
      );
    });

    test('stays as it is when the agent restarts, and can be torn down with the disk alone', async () => {
      const { files, start, intact } = world(each);
      await start().mount(pod, never);
      const before = [...files.mounts];
      const second = start();
      await second.mount(pod, never);
      assert.deepEqual([...files.mounts], before);
      await start().tearDown(pod.uid);
      assert.deepEqual([files.mounts.size, files.has(target), intact()], [0, false, true]);
    });

    test('what cannot be unmounted stays, with its folder and all that is in it', async () => {
      const { files, start, intact } = world(each);
      const manager = start();
      await manager.mount(pod, never);
      files.fault = (operation) => {
        if (operation === 'unmount' || operation.startsWith('run umount')) throw new Error('target is busy');
      };
      await assert.rejects(manager.unmount(pod), /target is busy/);
      assert.deepEqual([files.mounts.has(target), intact()], [true, true]);
      assert.equal(await files.readText(`${target}/precious`), 'data');
      files.fault = () => {};
      await manager.unmount(pod);
      assert.deepEqual([files.mounts.size, files.has(target), intact()], [0, false, true]);
    });

    test('files that were written into the folder while nothing was mounted there stay', async () => {
      const { files, start, intact } = world(each);
      const manager = start();
      await manager.mount(pod, never);
      files.mounts.delete(target);
      files.append(`${target}/written`, 'by a user');
      await assert.rejects(manager.unmount(pod), /is not empty/);
      assert.deepEqual([await files.readText(`${target}/written`), intact()], ['by a user', true]);
    });

    // One that finds the pod again goes on with it; one that does not tears down what it finds.
    for (const comesBack of [false, true]) {
      test(`an agent that is killed after any step loses nothing; the pod ${comesBack ? 'comes back' : 'is removed'}`, async () => {
        let steps = 0;
        for (let killed = true; killed; steps++) {
          const { files, start, intact } = world(each);
          let left = steps;
          // A dead process does nothing more, whatever it would have done about a failure.
          files.fault = () => {
            if (left-- <= 0) throw new Error('killed');
          };
          const life = async (): Promise<void> => {
            const manager = start();
            await manager.mount(grouped, never);
            await manager.unmount(grouped);
          };
          killed = await life().then(
            () => false,
            () => true,
          );
          assert.ok(intact(), `killed after ${steps} steps`);
          files.fault = () => {};
          if (comesBack) {
            await start().mount(grouped, never);
            assert.equal(await files.readText(`${target}/precious`), 'data');
          }
          await start().tearDown(grouped.uid);
          assert.ok(intact(), `torn down after ${steps} steps`);
          assert.deepEqual([files.mounts.size, files.has(target)], [0, false], `after ${steps} steps`);
        }
        assert.ok(steps > 4, 'there were steps to be killed after');
      });
    }
  });
}

describe('a local volume', () => {
  const [folder, device] = kinds;
  const other = using([data], { securityContext: { fsGroup: 8 } }, { uid: 'uid-2', name: 'other' });

  test('goes to the group of the first pod; one with another group gets a warning', async () => {
    const { files, start, events } = world(folder);
    const manager = start();
    await manager.mount(grouped, never);
    assert.deepEqual([files.entries.get('/mnt/disk')?.gid, files.entries.get('/mnt/disk/precious')?.gid], [7, 7]);
    await manager.mount(other, never);
    assert.equal(files.entries.get('/mnt/disk')?.gid, 7);
    assert.deepEqual(events, [
      'Warning AlreadyMountedVolume: The requested fsGroup is 8, but the volume pv-data has GID 7. The volume may not be shareable.',
    ]);
  });

  test('is read-only where the pod says so, and then no group is changed', async () => {
    const { files, start } = world(folder);
    const manager = start();
    const reading: Volume = { name: 'v', persistentVolumeClaim: { claimName: 'data', readOnly: true } };
    const reader = using([reading], { securityContext: { fsGroup: 7 } });
    await manager.mount(reader, never);
    assert.deepEqual(files.mounts.get(`${volumes}/kubernetes.io~local-volume/pv-data`), ['bind /mnt/disk', 'ro']);
    assert.equal(files.entries.get('/mnt/disk')?.gid, undefined);
    assert.equal(manager.mounted(reader.uid).get('v')?.readOnly, true);
  });

  test('on a device is mounted once for all, and unmounted after the last', async () => {
    const { files, start, intact } = world(device);
    const manager = start();
    const mounted = '/k/plugins/kubernetes.io/local-volume/mounts/pv-data';
    await Promise.all([manager.mount(pod, never), manager.mount(other, never)]);
    assert.deepEqual(files.mounts.get(mounted), ['bind /on//dev/sdb', '-t ext4']);
    assert.equal(files.mounts.size, 3);
    await manager.unmount(pod);
    assert.equal(files.mounts.has(mounted), true);
    await manager.unmount(other);
    assert.deepEqual([files.mounts.size, intact()], [0, true]);
  });

  test('that is missing, or is neither folder nor disk, fails with upstream’s message', async () => {
    for (const [path, words] of [
      ['/mnt/none', 'path "/mnt/none" does not exist'],
      ['/mnt/disk/precious', 'only directory and block device are supported'],
    ] as const) {
      const { api, start, events } = world(folder);
      api.put('data', { local: { path } });
      await assert.rejects(start().mount(pod, never));
      assert.deepEqual(events, [
        `Warning FailedMount: MountVolume.NewMounter initialization failed for volume "pv-data" : ${words}`,
      ]);
    }
  });

  test('as a block device is the device, and nothing of it is on the agent’s disk', async () => {
    const containers = [aContainer('main', { volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] })];
    const { api, start, files, events } = world(device);
    api.put('data', { local: { path: '/dev/sdb' }, volumeMode: 'Block' });
    const manager = start();
    const raw = using([data], { containers });
    await manager.mount(raw, never);
    assert.deepEqual(manager.mounted(raw.uid).get('v'), { hostPath: '/dev/sdb', isOfNode: true, innerName: 'pv-data' });
    assert.deepEqual(files.tree('/k'), []);
    api.put('data', { local: { path: '/mnt' }, volumeMode: 'Block' });
    await files.makeFolder('/mnt', 0o755);
    await assert.rejects(start().mount(raw, never));
    assert.deepEqual(events, [
      'Warning FailedMapVolume: MapVolume.MapPodDevice failed for volume "pv-data" : /mnt is not a block device',
    ]);
  });
});

describe('nfs', () => {
  const [, , served] = kinds;
  const inline: Volume = { name: 'n', nfs: { server: '2001:db8::1', path: '/e', readOnly: true } };

  test('inline: by the name of the volume in the pod', async () => {
    const { files, start } = world(served);
    const manager = start();
    const one = using([inline]);
    await manager.mount(one, never);
    const target = `${volumes}/kubernetes.io~nfs/n`;
    assert.deepEqual([...files.mounts], [[target, ['bind /on/[2001:db8::1]:/e', '-t nfs', 'ro']]]);
    assert.deepEqual(manager.mounted(one.uid).get('n'), { hostPath: target, readOnly: true });
    await manager.unmount(one);
    assert.deepEqual([files.mounts.size, files.has(target)], [0, false]);
  });

  test('two claims of a pod to the same are mounted once', async () => {
    const { files, start } = world(served);
    const manager = start();
    const twice = using([data, { name: 'w', persistentVolumeClaim: { claimName: 'data' } }]);
    await manager.mount(twice, never);
    const paths = [...manager.mounted(twice.uid).values()].map(({ hostPath }) => hostPath);
    assert.deepEqual([new Set(paths).size, files.mounts.size], [1, 1]);
  });

  test('a server that does not answer delays its own pod and no other, and is aborted with it', async () => {
    const { files, api, programs, start, clock } = world(served);
    programs.hang = (operation) => operation === 'mount';
    const manager = start();
    const held = assert.rejects(manager.mount(pod, never));
    await clock.advance(0);
    api.put('quick', { hostPath: { path: '/srv' } });
    const quick = using([{ name: 'q', persistentVolumeClaim: { claimName: 'quick' } }], {}, { uid: 'uid-2' });
    await manager.mount(quick, never);
    await manager.unmount(pod);
    await held;
    assert.deepEqual([files.mounts.size, files.has(`${volumes}/kubernetes.io~nfs/pv-data`)], [0, false]);
  });

  test('an unmount without an answer is forced after a minute; never lazy', async () => {
    const { files, programs, start, clock } = world(served);
    const manager = start();
    await manager.mount(pod, never);
    programs.hang = (operation) => operation === 'umount';
    const ran: string[] = [];
    files.fault = (operation) => void (operation.startsWith('run') && ran.push(operation));
    const down = manager.unmount(pod);
    await clock.advance(59_000);
    assert.deepEqual(ran, ['run umount']);
    await clock.advance(1_000);
    await down;
    assert.deepEqual([ran, files.mounts.size], [['run umount', 'run umount -f'], 0]);
  });

  test('a forced unmount that fails leaves all for the next try', async () => {
    const { files, programs, start, clock } = world(served);
    const manager = start();
    await manager.mount(pod, never);
    programs.hang = (operation) => operation.startsWith('umount');
    const down = assert.rejects(manager.unmount(pod), { kind: 'timeout' });
    await clock.advance(120_000);
    await down;
    assert.equal(files.mounts.size, 1);
    programs.hang = () => false;
    await manager.unmount(pod);
    assert.equal(files.mounts.size, 0);
  });
});
