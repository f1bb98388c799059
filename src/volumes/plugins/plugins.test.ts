import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import { podUid } from '../../base/ids.ts';
import type { ConfigMap, PodSpec, Secret, Volume } from '../../gen/kubernetes/types.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryFiles } from '../../testing/memory-files.ts';
import { memoryVolumeHost } from '../../testing/memory-volume-host.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { visibleFiles } from '../../testing/visible-files.ts';
import { noTokens, noTrust, type TokenSource } from '../credential-ports.ts';
import type { VolumePlugin } from '../ports.ts';
import { ScratchFolders } from '../scratch-folders.ts';
import { WrittenVolumes } from '../written-volumes.ts';
import { configMap } from './config-map.ts';
import { downwardApi } from './downward-api.ts';
import { emptyDir } from './empty-dir.ts';
import { projected } from './projected.ts';
import { secret } from './secret.ts';

const never = new AbortController().signal;
const volumes = '/k/pods/uid-1/volumes';

function setUp({ tokens = true }: { readonly tokens?: boolean } = {}) {
  const files = new MemoryFiles();
  const host = memoryVolumeHost(files);
  const clock = new FakeClock();
  const configMaps = new Map<string, ConfigMap>([['cm', { data: { alpha: 'one' } }]]);
  const secrets = new Map<string, Secret>([['keys', { data: { pin: Buffer.from('1234').toString('base64') } }]]);
  const problems = new Map<string, string>();
  const specs: Parameters<TokenSource['get']>[0][] = [];
  const objects = {
    configMap: (_: string, name: string) => configMaps.get(name),
    secret: (_: string, name: string) => secrets.get(name),
    problem: (_: string, __: string, name: string) => problems.get(name),
  };
  const scratch = new ScratchFolders(host, podPaths('/k', '/logs'));
  const memory = () => ({ allocatable: { memory: '1Gi' }, noSwap: true });
  const events = { record: () => assert.fail('nothing to record') };
  const facts = { node: { allocatable: { cpu: '4' } }, nodeName: 'n1', hostIps: () => ['192.0.2.1'] };
  let tokenRefusal: TubeletError | undefined;
  const refuseTokens = (error: TubeletError): void => void (tokenRefusal = error);
  const source: TokenSource = {
    async get(spec) {
      specs.push(spec);
      if (tokenRefusal !== undefined) throw tokenRefusal;
      return { value: 'a token' };
    },
  };
  const written = (): WrittenVolumes =>
    new WrittenVolumes({ clock, random: seededRandom(1), host, scratch, memory, events });
  const kinds = (): readonly VolumePlugin[] => {
    const writer = written();
    return [
      emptyDir({ clock, scratch, paths: host.paths, memory, events }),
      configMap(writer, objects),
      secret(writer, objects),
      downwardApi(writer, facts),
      projected({ written: writer, objects, facts, tokens: tokens ? source : noTokens, trust: noTrust }),
    ];
  };
  let plugins = kinds();
  const pluginFor = (volume: Volume): VolumePlugin => {
    const plugin = plugins.find((one) => one.handles(volume));
    assert.ok(plugin);
    return plugin;
  };
  const up = (volume: Volume, spec: Partial<PodSpec> = {}, labels: Record<string, string> = {}) =>
    pluginFor(volume).setUp({ pod: aPod({ spec, metadata: { labels } }), volume }, never);
  const down = (volume: Volume) => pluginFor(volume).tearDown?.({ uid: podUid('uid-1'), name: volume.name });
  const restart = (): void => void (plugins = kinds());
  return { files, configMaps, secrets, problems, specs, up, down, restart, refuseTokens };
}

const cm: Volume = { name: 'v', configMap: { name: 'cm' } };
const keys: Volume = { name: 'v', secret: { secretName: 'keys' } };

describe('emptyDir', () => {
  const scratch: Volume = { name: 'v', emptyDir: {} };
  const path = `${volumes}/kubernetes.io~empty-dir/v`;

  test('is a folder that every user may write to, with a mark that it is complete', async () => {
    const { files, up } = setUp();
    assert.deepEqual(await up(scratch), { hostPath: path, selinuxRelabel: true });
    assert.deepEqual(files.listing('/k/pods/uid-1/plugins'), [
      '644 0:0 f kubernetes.io~empty-dir/v/ready',
      '750 0:0 d kubernetes.io~empty-dir',
      '750 0:0 d kubernetes.io~empty-dir/v',
    ]);
    assert.equal(files.entries.get(path)?.mode, 0o777);
  });

  test('what containers made of it stays when it is set up again', async () => {
    const { files, up, restart } = setUp();
    await up(scratch, { securityContext: { fsGroup: 7 } });
    files.entries.set(path, { mode: 0o700, gid: 9 });
    restart();
    await up(scratch, { securityContext: { fsGroup: 7 } });
    assert.deepEqual(files.entries.get(path), { mode: 0o700, gid: 9 });
  });

  test('in memory: mounted once, unmounted before it is removed', async () => {
    const { files, up, down, restart } = setUp();
    const ram: Volume = { name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } };
    await up(ram);
    assert.deepEqual([...files.mounts], [[path, ['tmpfs', 'size=1048576', 'noswap']]]);
    restart();
    files.append(`${path}/kept`, 'x');
    await up(ram);
    assert.equal(files.has(`${path}/kept`), true);
    await down(ram);
    await down(ram);
    assert.deepEqual(
      [files.mounts.size, files.has(path), files.has('/k/pods/uid-1/plugins/kubernetes.io~empty-dir/v')],
      [0, false, false],
    );
  });

  test('a crash at any step of making or removing leaves something that can be made and removed', async () => {
    const ram: Volume = { name: 'v', emptyDir: { medium: 'Memory' } };
    for (let steps = 0, crashed = true; crashed; steps++) {
      const { files, up, down, restart } = setUp();
      let left = steps;
      files.fault = () => {
        if (left-- === 0) throw new Error('killed');
      };
      const way = async (): Promise<void> => {
        await up(ram, { securityContext: { fsGroup: 7 } });
        await down(ram);
      };
      crashed = await way().then(
        () => false,
        () => true,
      );
      files.fault = () => {};
      restart();
      await up(ram, { securityContext: { fsGroup: 7 } });
      assert.deepEqual(files.entries.get(path), { mode: 0o3777, gid: 7 }, `after ${steps} steps`);
      assert.equal(files.mounts.has(path), true);
      await down(ram);
      assert.deepEqual([files.mounts.size, files.tree(volumes)], [0, ['755 kubernetes.io~empty-dir']]);
    }
  });
});

describe('written volumes', () => {
  test('a ConfigMap is on disk, a Secret in memory', async () => {
    const { files, up } = setUp();
    await up(cm);
    await up(keys);
    assert.deepEqual([...files.mounts.keys()], [`${volumes}/kubernetes.io~secret/v`]);
    assert.deepEqual(await visibleFiles(files, `${volumes}/kubernetes.io~configmap/v`), { alpha: 'one' });
    assert.deepEqual(await visibleFiles(files, `${volumes}/kubernetes.io~secret/v`), { pin: '1234' });
  });

  test('follow their objects, and write nothing without changes', async () => {
    const { files, configMaps, up } = setUp();
    await up(cm);
    files.fault = (operation) => assert.fail(operation);
    await up(cm);
    files.fault = () => {};
    configMaps.set('cm', { data: { alpha: 'two', beta: 'new' } });
    await up(cm);
    assert.deepEqual(await visibleFiles(files, `${volumes}/kubernetes.io~configmap/v`), { alpha: 'two', beta: 'new' });
  });

  test('a missing object is reported by its name; an optional one is empty and filled later', async () => {
    const { files, configMaps, up } = setUp();
    await assert.rejects(up({ name: 'v', secret: { secretName: 'nope' } }), { message: 'secret "nope" not found' });
    await assert.rejects(up({ name: 'v', configMap: { name: 'nope' } }), { message: 'configmap "nope" not found' });
    assert.deepEqual(files.tree('/k'), [], 'nothing was made');
    const optional: Volume = { name: 'o', configMap: { name: 'late', optional: true } };
    const { hostPath } = await up(optional);
    assert.deepEqual(await visibleFiles(files, hostPath), {});
    configMaps.set('late', { data: { at: 'last' } });
    await up(optional);
    assert.deepEqual(await visibleFiles(files, hostPath), { at: 'last' });
  });

  test('an object that cannot be read does not count as missing', async () => {
    const { problems, up } = setUp();
    problems.set('late', 'failed to sync configmap cache: timed out waiting for the condition');
    await assert.rejects(up({ name: 'o', configMap: { name: 'late', optional: true } }), {
      message: 'failed to sync configmap cache: timed out waiting for the condition',
    });
  });

  test('the downward API follows labels', async () => {
    const { files, up } = setUp();
    const items = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }];
    const volume: Volume = { name: 'v', downwardAPI: { items } };
    const { hostPath } = await up(volume, {}, { a: '1' });
    assert.deepEqual(await visibleFiles(files, hostPath), { labels: 'a="1"' });
    await up(volume, {}, { a: '1', b: '2' });
    assert.deepEqual(await visibleFiles(files, hostPath), { labels: 'a="1"\nb="2"' });
  });

  test('after they were torn down they are written anew', async () => {
    const { files, up, down } = setUp();
    await up(keys);
    await down(keys);
    assert.deepEqual([files.mounts.size, await files.list(`${volumes}/kubernetes.io~secret`)], [0, []]);
    const { hostPath } = await up(keys);
    assert.deepEqual(await visibleFiles(files, hostPath), { pin: '1234' });
  });
});

describe('projected', () => {
  const token = { serviceAccountToken: { path: 'token', expirationSeconds: 600, audience: 'x' } };
  const access = (...sources: NonNullable<NonNullable<Volume['projected']>['sources']>): Volume => ({
    name: 'v',
    projected: { sources },
  });
  const modeOf = (files: MemoryFiles): readonly string[] =>
    files
      .listing(`${volumes}/kubernetes.io~projected/v`)
      .filter((line) => line.endsWith('/token') && line.includes(' f '))
      .map((line) => line.replace(/ f .*/, ''));

  test('a token that is refused is reported with the API server’s message', async () => {
    const { up, refuseTokens } = setUp();
    refuseTokens(
      new TubeletError('notFound', 'POST serviceaccounts/token: gone', { remoteMessage: 'pod "web" not found' }),
    );
    await assert.rejects(up(access(token)), { message: 'failed to fetch token: pod "web" not found' });
  });

  test('puts all sources into one folder', async () => {
    const { files, specs, up } = setUp();
    const cpu = { path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu' } };
    const { hostPath } = await up(
      access(
        token,
        { configMap: { name: 'cm' } },
        { secret: { name: 'keys', items: [{ key: 'pin', path: 'a/b' }] } },
        { downwardAPI: { items: [cpu] } },
      ),
      { serviceAccountName: 'robot' },
    );
    assert.deepEqual(await visibleFiles(files, hostPath), { alpha: 'one', 'a/b': '1234', cpu: '4', token: 'a token' });
    assert.deepEqual(specs, [
      {
        namespace: 'default',
        serviceAccount: 'robot',
        pod: { name: 'web', uid: 'uid-1' },
        audiences: ['x'],
        expirationSeconds: 600,
      },
    ]);
  });

  for (const [who, spec, expected] of [
    ['any user', {}, '644 0:0'],
    ['the pod’s user', { securityContext: { runAsUser: 5 } }, '600 5:0'],
    ['the pod’s group', { securityContext: { fsGroup: 7 } }, '640 0:7'],
    ['both', { securityContext: { runAsUser: 5, fsGroup: 7 } }, '640 5:7'],
    [
      'users that differ',
      { containers: [aContainer('a', { securityContext: { runAsUser: 5 } }), aContainer('b')] },
      '644 0:0',
    ],
  ] as const) {
    test(`a token is for ${who}`, async () => {
      const { files, up } = setUp();
      await up(access(token), spec);
      assert.deepEqual(modeOf(files), [expected]);
    });
  }

  test('all problems are reported at once, and nothing is made', async () => {
    const { files, up } = setUp({ tokens: false });
    await assert.rejects(
      up(access({ secret: { name: 'nope' } }, { configMap: { name: 'cm', items: [{ key: 'k', path: 'p' }] } })),
      { message: '[secret "nope" not found, configmap references non-existent config key: k]' },
    );
    await assert.rejects(up(access(token)), { message: 'there is no API server that could give a token' });
    await assert.rejects(up(access({ clusterTrustBundle: { path: 'p', name: 'n' } })), /ClusterTrustBundle projection/);
    assert.deepEqual(files.tree('/k'), []);
  });
});
