import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Volume } from '../../src/gen/kubernetes/types.ts';
import type { DesiredPod } from '../../src/model/desired-pod.ts';
import type { StandaloneObject } from '../../src/model/standalone-object.ts';
import { aContainer, aPod } from '../../src/testing/pods.ts';
import { visibleFiles } from '../../src/testing/visible-files.ts';
import { AgentWorld } from '../support/agent-world.ts';

const using = (uid: string, ...volumes: readonly Volume[]): DesiredPod =>
  aPod({
    uid,
    name: uid,
    spec: {
      volumes,
      containers: [aContainer('main', { volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) })],
    },
  });
const settings = (data: Record<string, string>): StandaloneObject => ({
  kind: 'ConfigMap',
  namespace: 'default',
  name: 'settings',
  path: '/manifests/a.yaml',
  line: 1,
  object: { data },
});
const cm: Volume = { name: 'cm', configMap: { name: 'settings' } };
const ram: Volume = { name: 'ram', emptyDir: { medium: 'Memory' } };
const cmPath = (uid: string): string => `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~configmap/cm`;

async function world(): Promise<AgentWorld> {
  const it = new AgentWorld();
  await it.start();
  return it;
}

describe('a pod that wants a ConfigMap', () => {
  test('waits for it, is told why, and starts as soon as it is there', async () => {
    const it = await world();
    await it.manifests(using('one', cm), using('two'));
    await it.clock.advance(20_000);
    assert.deepEqual([it.containers('one'), it.containers('two')], [[], ['main#0 running']]);
    const told = it.events.filter(({ pod }) => pod === 'one').map(({ reason, message }) => `${reason}: ${message}`);
    assert.equal(new Set(told).size, 1);
    assert.equal(told[0], 'FailedMount: MountVolume.SetUp failed for volume "cm" : configmap "settings" not found');
    await it.objects(settings({ color: 'green' }));
    await it.clock.advance(100);
    assert.deepEqual(it.containers('one'), ['main#0 running']);
    assert.deepEqual(await visibleFiles(it.files, cmPath('one')), { color: 'green' });
  });

  test('sees a change at once, and goes on with what it has when the object goes', async () => {
    const it = await world();
    await it.objects(settings({ color: 'green' }));
    await it.manifests(using('one', cm));
    await it.clock.advance(1_000);
    await it.objects(settings({ color: 'red', more: '+' }));
    await it.clock.advance(100);
    assert.deepEqual(await visibleFiles(it.files, cmPath('one')), { color: 'red', more: '+' });
    await it.objects();
    await it.clock.advance(120_000);
    assert.deepEqual(await visibleFiles(it.files, cmPath('one')), { color: 'red', more: '+' });
    assert.deepEqual(it.containers('one'), ['main#0 running']);
  });
});

describe('volumes outlive the agent', () => {
  test('one that comes back finds them as they were', async () => {
    const it = await world();
    await it.objects(settings({ color: 'green' }));
    await it.manifests(using('one', cm, ram));
    await it.clock.advance(1_000);
    const before = it.files.listing('/var/lib/kubelet/pods/one/volumes');
    await it.stop();
    await it.start();
    await it.objects(settings({ color: 'green' }));
    await it.clock.advance(60_000);
    assert.deepEqual(it.files.listing('/var/lib/kubelet/pods/one/volumes'), before);
    assert.equal(it.files.mounts.size, 1);
    assert.deepEqual(it.containers('one'), ['main#0 running']);
  });

  test('of a pod deleted while nobody was there they are taken down, mounts first', async () => {
    const it = await world();
    await it.objects(settings({ color: 'green' }));
    await it.manifests(using('gone', cm, ram), using('stays', ram));
    await it.clock.advance(1_000);
    assert.equal(it.files.mounts.size, 2);
    await it.stop();
    await it.manifests(using('stays', ram));
    await it.start();
    await it.clock.advance(60_000);
    assert.deepEqual(
      [...it.files.mounts.keys()].map((path) => path.split('/')[5]),
      ['stays'],
    );
    assert.deepEqual(await it.files.list('/var/lib/kubelet/pods'), ['stays']);
    assert.deepEqual(it.containers('stays'), ['main#0 running']);
  });

  test('also when the runtime knows nothing of it any more', async () => {
    const it = await world();
    await it.manifests(using('gone', ram));
    await it.clock.advance(1_000);
    await it.stop();
    it.cri.state.containers.clear();
    it.cri.state.sandboxes.clear();
    await it.manifests();
    await it.start();
    await it.clock.advance(60_000);
    assert.deepEqual([it.files.mounts.size, await it.files.list('/var/lib/kubelet/pods')], [0, []]);
  });

  test('a mount that will not go keeps the pod’s files, and is tried again', async () => {
    const it = await world();
    await it.manifests(using('one', ram));
    await it.clock.advance(1_000);
    it.files.fault = (operation) => {
      if (operation === 'unmount') throw new Error('device is busy');
    };
    await it.manifests();
    await it.clock.advance(60_000);
    assert.deepEqual([it.files.mounts.size, await it.files.list('/var/lib/kubelet/pods')], [1, ['one']]);
    it.files.fault = () => {};
    await it.clock.advance(60_000);
    assert.deepEqual([it.files.mounts.size, await it.files.list('/var/lib/kubelet/pods')], [0, []]);
  });
});

test('one volume that hangs holds back its pod and no other', async () => {
  const hung = new Promise<void>(() => {});
  const it = new AgentWorld({
    overrides: () => ({
      diskWire: (files) => {
        const makeFolder = files.makeFolder.bind(files);
        files.makeFolder = async (path, mode) => {
          if (path.endsWith('empty-dir/ram')) await hung;
          return makeFolder(path, mode);
        };
        return files;
      },
    }),
  });
  await it.start();
  await it.manifests(using('hangs', ram), using('runs', { name: 'disk', emptyDir: {} }));
  await it.clock.advance(130_000);
  assert.deepEqual([it.containers('hangs'), it.containers('runs')], [[], ['main#0 running']]);
  assert.equal(
    it.events.find(({ pod }) => pod === 'hangs')?.message,
    'Unable to attach or mount volumes: unmounted volumes=[ram], unattached volumes=[], failed to process volumes=[]: ' +
      'timed out waiting for the condition',
  );
});
