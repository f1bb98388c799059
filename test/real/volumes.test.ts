import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readMountInfo } from '../../src/host/index.ts';
import { RealNode } from '../support/real-node.ts';
import { containerOf, endedPod, idle, podOf, podWhen, saidBy, SharedFolder, shell } from '../support/real-pods.ts';
import type { Program } from '../support/real-program.ts';
import { clock, until } from '../support/real-wait.ts';

let node: RealNode;
let agent: Program;
before(async () => {
  node = await RealNode.start('volumes');
  putSettings('green');
  node.put('a-secret', object('Secret', 'keys', { stringData: { pin: '1234', user: 'anna' } }));
  agent = await node.workingAgent();
});
after(() => node?.destroy());

const object = (kind: string, name: string, more: object): object => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...more,
});
const putSettings = (color: string, more: object = {}): void =>
  node.put('a-settings', object('ConfigMap', 'settings', { data: { color, 'b.conf': 'two\n', ...more } }));

/** Runs a script in a pod to its end and answers what it said. */
async function said(name: string, spec: object, metadata: object = {}): Promise<readonly string[]> {
  node.put(name, podOf(name, { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, ...spec }, { ...metadata }));
  const pod = await endedPod(node, name);
  const words = saidBy(node, pod, 'main');
  assert.equal(pod.status?.phase, 'Succeeded', words.join('\n'));
  return words;
}

const mountPath = (name: string): object => ({ name, mountPath: `/${name}` });
/** Mode, owner and name of what is there, with the names of folders of contents in short. */
const look = (path: string): string => `stat -c '%a %u:%g %n' ${path} | sed 's/[.][.]20[0-9_.]*/..stamp/'`;
const podsFolder = (): string => join(node.names.kubeletRoot, 'pods');
const ourMounts = (): readonly string[] =>
  readMountInfo()
    .map(({ mountPoint }) => mountPoint)
    .filter((point) => point.startsWith(podsFolder()));

async function nothingIsLeft(): Promise<void> {
  await until(
    'no file and no mount of a pod is left',
    () => readdirSync(podsFolder()).length === 0 && ourMounts().length === 0,
    {
      state: () => [readdirSync(podsFolder()), ourMounts()],
    },
  );
}

describe('contents, seen from inside', () => {
  test('of ConfigMaps, Secrets and the pod itself: files, modes, owners, and memory for what is secret', async () => {
    const script = [
      look('/cm /cm/x /cm/..data/x /cm/..data/x/y /cm/z /cm/..data/z'),
      `${look('/keys /keys/..data/pin')}; cat /keys/pin; echo`,
      'readlink /cm/x; readlink /keys/pin',
      'cat /all/labels; echo; cat /all/cpu; echo; cat /all/who; echo; cat /all/color; echo',
      'cat /self/name; echo',
      'grep -E " /(keys|all|self|cm) " /proc/mounts | while read -r a b c d e; do echo "$b $c $d"; done | cut -d, -f1',
      'touch /cm/new 2>&1; touch /keys/new 2>&1; true',
    ];
    const label = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }];
    const cpu = [{ path: 'cpu', resourceFieldRef: { containerName: 'main', resource: 'limits.cpu', divisor: '1m' } }];
    const volumes = [
      {
        name: 'cm',
        configMap: {
          name: 'settings',
          defaultMode: 0o440,
          items: [
            { key: 'color', path: 'x/y' },
            { key: 'b.conf', path: 'z', mode: 0o400 },
          ],
        },
      },
      { name: 'keys', secret: { secretName: 'keys' } },
      {
        name: 'all',
        projected: {
          sources: [
            { configMap: { name: 'settings' } },
            { secret: { name: 'keys', items: [{ key: 'user', path: 'who' }] } },
            { downwardAPI: { items: [...label, ...cpu] } },
            { configMap: { name: 'nobody', optional: true } },
          ],
        },
      },
      { name: 'self', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
      // No container wants it, so it is in nobody's way.
      { name: 'unused', secret: { secretName: 'nobody' } },
    ];
    const main = shell('main', node.image, script.join('\n'), {
      volumeMounts: ['cm', 'keys', 'all', 'self'].map(mountPath),
      resources: { limits: { cpu: '200m' } },
    });
    const words = await said('contents', { containers: [main], volumes }, { labels: { app: 'inside' } });
    assert.deepEqual(words, [
      '777 0:0 /cm',
      '777 0:0 /cm/x',
      '755 0:0 /cm/..data/x',
      '440 0:0 /cm/..data/x/y',
      '777 0:0 /cm/z',
      '400 0:0 /cm/..data/z',
      '1777 0:0 /keys',
      '644 0:0 /keys/..data/pin',
      '1234',
      '..data/x',
      '..data/pin',
      'app="inside"',
      '200',
      'anna',
      'green',
      'contents-node-1',
      ...words.filter((word) => /^\/cm \S+ ro$/.test(word)),
      '/keys tmpfs ro',
      '/all tmpfs ro',
      '/self tmpfs ro',
      'touch: /cm/new: Read-only file system',
      'touch: /keys/new: Read-only file system',
    ]);
    assert.equal(words.filter((word) => /^\/cm \S+ ro$/.test(word)).length, 1);
  });

  test('of scratch folders: the group of the pod, memory with a limit', async () => {
    const script = [
      look('/disk /ram'),
      'touch /disk/mine /ram/mine && stat -c "%u:%g" /disk/mine /ram/mine',
      'grep " /ram " /proc/mounts | tr " ," "\\n\\n" | grep -E "^(tmpfs|size=.*|noswap|rw)$" | sort -u',
    ];
    const volumes = [
      { name: 'disk', emptyDir: {} },
      { name: 'ram', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } },
    ];
    const main = shell('main', node.image, script.join('\n'), { volumeMounts: ['disk', 'ram'].map(mountPath) });
    const securityContext = { runAsUser: 1_000, runAsGroup: 2_000, fsGroup: 3_000 };
    assert.deepEqual(await said('scratch', { securityContext, containers: [main], volumes }), [
      '2777 0:3000 /disk',
      '3777 0:3000 /ram',
      '1000:3000',
      '1000:3000',
      'noswap',
      'rw',
      'size=8192k',
      'tmpfs',
    ]);
  });

  test('a changed ConfigMap is seen within a second, whole, and what it lost is gone', async () => {
    const shared = new SharedFolder(node, 'edit');
    const script = `while [ ! -e /shared/end ]; do cat /cm/color /cm/more > /shared/.seen 2>/dev/null; mv /shared/.seen /shared/seen; sleep 0.02; done`;
    const main = shell('main', node.image, script, {
      volumeMounts: [mountPath('cm'), ...shared.mounts.volumeMounts],
    });
    const volumes = [{ name: 'cm', configMap: { name: 'settings' } }, ...shared.volumes];
    node.put('edit', podOf('edit', { restartPolicy: 'Never', containers: [main], volumes }));
    const seen = (text: string) =>
      until(
        `"${text}" is seen`,
        () => existsSync(shared.file('seen')) && readFileSync(shared.file('seen'), 'utf8') === text,
      );
    await seen('green');
    const begun = clock.monotonic();
    putSettings('red', { more: '+' });
    await seen('red+');
    const tookMs = clock.monotonic() - begun;
    assert.ok(tookMs < 1_000, `it took ${tookMs} ms`);
    putSettings('green');
    await seen('green');
    writeFileSync(shared.file('end'), '');
    await endedPod(node, 'edit');
    await node.remove('edit');
  });
});

describe('paths of the node', () => {
  test('are checked for what they should be, and made where that is asked for', async () => {
    const folder = join(node.path, 'host-paths');
    mkdirSync(folder);
    writeFileSync(join(folder, 'file'), '');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve));
    try {
      const paths: readonly (readonly [name: string, type: string, path: string])[] = [
        ['dir', 'Directory', folder],
        ['newdir', 'DirectoryOrCreate', join(folder, 'made/dir')],
        ['file', 'File', join(folder, 'file')],
        ['newfile', 'FileOrCreate', join(folder, 'made-file')],
        ['socket', 'Socket', join(folder, 'socket')],
        ['null', 'CharDevice', '/dev/null'],
      ];
      const volumes = paths.map(([name, type, path]) => ({ name, hostPath: { path, type } }));
      const main = shell('main', node.image, 'stat -c "%a %F" /newdir /newfile', {
        volumeMounts: paths.map(([name]) => ({ name, mountPath: `/${name}` })),
      });
      assert.deepEqual(await said('host-paths', { containers: [main], volumes }), [
        '755 directory',
        '644 regular empty file',
      ]);
    } finally {
      server.close();
    }
  });

  test('that are something else hold the pod back, and it is told why', async () => {
    const rows = [
      ['Directory', '/dev/null', 'a directory'],
      ['File', '/dev', 'a file'],
      ['Socket', '/dev/null', 'a socket file'],
      ['CharDevice', '/dev', 'a character device'],
      ['BlockDevice', '/dev/null', 'a block device'],
    ] as const;
    const volumes = rows.map(([type, path]) => ({ name: type.toLowerCase(), hostPath: { path, type } }));
    const main = shell('main', node.image, 'true', { volumeMounts: volumes.map(({ name }) => mountPath(name)) });
    node.put('wrong', podOf('wrong', { containers: [main], volumes }));
    for (const [type, path, words] of rows) {
      const message = `MountVolume.SetUp failed for volume \\"${type.toLowerCase()}\\" : hostPath type check failed: ${path} is not ${words}`;
      await until(`${type} is told of`, () => agent.text.includes(message), { state: () => agent.text.slice(-2_000) });
    }
    assert.equal((await node.pod('wrong'))?.status?.phase, 'Pending');
    await node.remove('wrong');
  });
});

describe('parts of volumes', () => {
  test('are made where they are missing, bound, and outlive a restart of their container', async () => {
    const script = ['echo again >> /b/count', look('/a /b'), 'cat /etc/one; echo', 'test $(wc -l < /b/count) -ge 2'];
    const main = shell('main', node.image, script.join('\n'), {
      env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
      volumeMounts: [
        { name: 'disk', mountPath: '/a', subPath: 'one/two' },
        { name: 'disk', mountPath: '/b', subPathExpr: 'of-$(POD)' },
        { name: 'cm', mountPath: '/etc/one', subPath: 'color' },
      ],
    });
    const volumes = [
      { name: 'disk', emptyDir: {} },
      { name: 'cm', configMap: { name: 'settings' } },
    ];
    node.put('parts', podOf('parts', { restartPolicy: 'OnFailure', containers: [main], volumes }));
    const pod = await endedPod(node, 'parts');
    assert.equal(pod.status?.phase, 'Succeeded');
    assert.equal(containerOf(pod, 'main').restartCount, 1);
    // Of the instance before nothing need be left by now.
    assert.deepEqual(saidBy(node, pod, 'main', 1), ['777 0:0 /a', '777 0:0 /b', 'green']);
    await node.remove('parts');
  });

  test('that would lead out of their volume are refused', async () => {
    const folder = join(node.path, 'escape');
    mkdirSync(folder);
    symlinkSync('/etc', join(folder, 'out'));
    symlinkSync('../../../../../../../../etc', join(folder, 'up'));
    for (const [name, subPath] of [
      ['escape-out', 'out'],
      ['escape-up', 'up'],
      ['escape-below', 'out/made'],
    ] as const) {
      const main = shell('main', node.image, 'ls /v', { volumeMounts: [{ name: 'v', mountPath: '/v', subPath }] });
      node.put(name, podOf(name, { containers: [main], volumes: [{ name: 'v', hostPath: { path: folder } }] }));
      const pod = await podWhen(
        node,
        name,
        'is refused',
        (seen) => containerOf(seen, 'main').state?.waiting?.reason === 'CreateContainerConfigError',
      );
      assert.match(
        containerOf(pod, 'main').state?.waiting?.message ?? '',
        /^failed to (create subPath directory|prepare subPath) for volumeMount "v" of container "main"$/,
      );
      await node.remove(name);
    }
    assert.equal(existsSync('/etc/made'), false);
  });
});

test('pods that are gone leave no mount and no file', async () => {
  for (const name of ['contents', 'scratch', 'host-paths']) await node.remove(name);
  await nothingIsLeft();
});

test('an agent that is killed, and a pod that is deleted meanwhile: the next one unmounts what is left', async () => {
  const volumes = [
    { name: 'keys', secret: { secretName: 'keys' } },
    { name: 'ram', emptyDir: { medium: 'Memory' } },
    { name: 'disk', emptyDir: {} },
  ];
  const main = shell('main', node.image, idle, {
    volumeMounts: [
      ...['keys', 'ram'].map(mountPath),
      { name: 'disk', mountPath: '/disk', subPath: 'a/b' },
      { name: 'keys', mountPath: '/pin', subPath: 'pin' },
    ],
  });
  const spec = { terminationGracePeriodSeconds: 2, containers: [main], volumes };
  node.put('left', podOf('left', spec));
  node.put('kept', podOf('kept', spec));
  await node.readyPod('left');
  await node.readyPod('kept');
  const uid = (await node.pod('left'))?.metadata?.uid ?? '';
  const kept = (await node.pod('kept'))?.metadata?.uid ?? '';
  const mountsOf = (one: string): number => ourMounts().filter((point) => point.includes(one)).length;
  assert.deepEqual([mountsOf(uid), mountsOf(kept)], [4, 4]);
  agent.kill('SIGKILL');
  await agent.ended;
  rmSync(join(node.names.manifests, 'left.json'));
  agent = await node.workingAgent();
  await node.runtime.gone('left');
  await until('nothing is left of it', () => mountsOf(uid) === 0 && !existsSync(join(podsFolder(), uid)), {
    state: () => [ourMounts(), agent.text.slice(-3_000)],
  });
  // The one that stayed was found as it was.
  assert.equal(mountsOf(kept), 4);
  await node.readyPod('kept');
  await node.remove('kept');
  await nothingIsLeft();
});
