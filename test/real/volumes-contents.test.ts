import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { RealNode } from '../support/real-node.ts';
import { endedPod, podOf, SharedFolder, shell } from '../support/real-pods.ts';
import type { Program } from '../support/real-program.ts';
import { look, mountPath, mountsAt, mountsIn, object, VolumePods, wordsIn } from '../support/real-volumes.ts';
import { until } from '../support/real-wait.ts';

/** Volumes that the agent writes, seen from inside: files, links, modes, owners, what is missing and what changes. */
let node: RealNode;
let agent: Program;
let pods: VolumePods;
before(async () => {
  node = await RealNode.start('contents');
  pods = new VolumePods(node, () => agent);
  putObjects();
  putModes();
  putPodFiles();
  putProjected();
  putMissing();
  agent = await node.workingAgent();
});
after(() => node?.destroy());

const bytes = Buffer.from([0, 255, 10, 13]);

function putObjects(): void {
  node.put(
    'a-map',
    object('ConfigMap', 'map', {
      data: { one: '1', 'two.conf': 'two\n', empty: '', UPPER_: 'x', '.hidden': 'h' },
      binaryData: { bytes: bytes.toString('base64') },
    }),
  );
  node.put(
    'a-secret',
    object('Secret', 'secret', { data: { raw: bytes.toString('base64') }, stringData: { pin: '1' } }),
  );
  node.put('a-fixed', object('ConfigMap', 'fixed', { immutable: true, data: { word: 'first' } }));
}

/** All that is in a volume, folders of contents in short, with modes and owners; links with their targets. */
const listing = (path: string): string =>
  `cd ${path} && find . ! -name . | sort | while read -r p; do t=$(readlink "$p"); stat -c "%a %u:%g %n $t" "$p"; done` +
  ` | sed 's/[.][.]20[0-9_]*[.][0-9]*/..stamp/g; s/ $//' | sort -k 3 | uniq`;

function putModes(): void {
  const volumes = [
    { name: 'usual', configMap: { name: 'map' } },
    {
      name: 'chosen',
      secret: {
        secretName: 'secret',
        defaultMode: 0o400,
        items: [
          { key: 'pin', path: 'deep/er/pin' },
          { key: 'raw', path: 'raw', mode: 0o777 },
        ],
      },
    },
  ];
  const script = [
    ...volumes.map(({ name }) => listing(`/${name}`)),
    'od -An -tx1 /usual/bytes; od -An -tx1 /chosen/raw; cat /usual/two.conf /usual/.hidden /chosen/deep/er/pin; echo',
    mountsAt('/usual', '/chosen'),
  ];
  pods.putScript('modes', script, { volumes });
  const securityContext = { runAsUser: 1_000, runAsGroup: 2_000, fsGroup: 3_000 };
  pods.putScript('group', [listing('/chosen'), 'cat /chosen/deep/er/pin; echo; id -G'], {
    securityContext,
    volumes: volumes.slice(1),
  });
}

function putPodFiles(): void {
  const field = (path: string, fieldPath: string, mode?: number): object => ({ path, mode, fieldRef: { fieldPath } });
  const amount = (path: string, resource: string, divisor: string): object => ({
    path,
    resourceFieldRef: { containerName: 'main', resource, divisor },
  });
  const items = [
    field('labels', 'metadata.labels', 0o440),
    field('annotations', 'metadata.annotations'),
    field('one', `metadata.annotations['note']`),
    field('app', `metadata.labels['app']`),
    field('names/name', 'metadata.name'),
    field('names/namespace', 'metadata.namespace'),
    field('uid', 'metadata.uid'),
    amount('cpu', 'limits.cpu', '1m'),
    amount('memory', 'limits.memory', '1Mi'),
    amount('asked', 'requests.cpu', '1'),
    amount('disk', 'requests.ephemeral-storage', '1Mi'),
  ];
  const script = [
    'cd /self; for f in app names/name names/namespace cpu memory asked disk one labels; do echo "$f=$(cat $f)"; done',
    'grep -c . annotations; grep note annotations; wc -c < uid',
    look('/self/..data/labels /self/..data/app'),
    mountsAt('/self'),
    'touch /self/no 2>&1; true',
  ];
  pods.putScript(
    'self',
    script,
    {
      volumes: [{ name: 'self', downwardAPI: { defaultMode: 0o404, items } }],
      container: {
        volumeMounts: [mountPath('self')],
        resources: {
          limits: { cpu: '1500m', memory: '64Mi' },
          requests: { cpu: '250m', memory: '32Mi', 'ephemeral-storage': '10Mi' },
        },
      },
    },
    { labels: { app: 'inside', tier: 'back' }, annotations: { note: 'several\nlines' } },
  );
}

function putProjected(): void {
  const sources = [
    { configMap: { name: 'map', items: [{ key: 'one', path: 'map/one', mode: 0o604 }] } },
    { secret: { name: 'secret', items: [{ key: 'pin', path: 'map/pin' }] } },
    { downwardAPI: { items: [{ path: 'self/name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    { configMap: { name: 'nobody', optional: true } },
    { secret: { name: 'secret', optional: true, items: [{ key: 'nothing', path: 'nothing' }] } },
  ];
  pods.putScript(
    'projected',
    [listing('/all'), 'cat /all/map/one /all/map/pin /all/self/name; echo', mountsAt('/all')],
    {
      volumes: [{ name: 'all', projected: { defaultMode: 0o440, sources } }],
    },
  );
  for (const [name, source] of [
    ['token', { serviceAccountToken: { path: 'token' } }],
    ['trust', { clusterTrustBundle: { name: 'roots', path: 'roots.pem' } }],
  ] as const) {
    pods.putScript(name, ['true'], { volumes: [{ name, projected: { sources: [source] } }] });
  }
}

function putMissing(): void {
  pods.putScript('missing', ['true'], {
    volumes: [
      { name: 'no-map', configMap: { name: 'nobody' } },
      { name: 'no-secret', secret: { secretName: 'nobody' } },
      { name: 'no-key', configMap: { name: 'map', items: [{ key: 'nothing', path: 'x' }] } },
      { name: 'no-pin', secret: { secretName: 'secret', items: [{ key: 'nothing', path: 'x' }] } },
      { name: 'several', projected: { sources: [{ configMap: { name: 'nobody' } }, { secret: { name: 'nobody' } }] } },
    ],
  });
  const tooLong = 'n'.repeat(256);
  pods.putScript('too-long', ['true'], {
    volumes: [{ name: 'long', configMap: { name: 'map', items: [{ key: 'one', path: tooLong }] } }],
  });
  pods.putScript('as-long-as-can-be', [`cat /long/${'n'.repeat(255)}; echo`], {
    volumes: [{ name: 'long', configMap: { name: 'map', items: [{ key: 'one', path: 'n'.repeat(255) }] } }],
  });
  node.put('a-large', object('ConfigMap', 'large', { data: { much: 'x'.repeat(1024 * 1024 + 1) } }));
  pods.putScript('large', ['true'], { volumes: [{ name: 'large', configMap: { name: 'large' } }] });
}

describe('what a volume holds', () => {
  test('of a ConfigMap and a Secret: every key a file, modes as asked for, secrets in memory', async () => {
    const words = await pods.said('modes');
    const names = ['.hidden', 'UPPER_', 'bytes', 'empty', 'one', 'two.conf'];
    assert.deepEqual(wordsIn(words), [
      ...[
        '777 0:0 ./..data ..stamp',
        '755 0:0 ./..stamp',
        ...names.map((name) => `644 0:0 ./..stamp/${name}`),
        ...names.map((name) => `777 0:0 ./${name} ..data/${name}`),
      ].toSorted(byPath),
      ...[
        '777 0:0 ./..data ..stamp',
        '755 0:0 ./..stamp',
        '755 0:0 ./..stamp/deep',
        '755 0:0 ./..stamp/deep/er',
        '400 0:0 ./..stamp/deep/er/pin',
        '777 0:0 ./..stamp/raw',
        '777 0:0 ./deep ..data/deep',
        '777 0:0 ./raw ..data/raw',
      ].toSorted(byPath),
      ' 00 ff 0a 0d',
      ' 00 ff 0a 0d',
      'two',
      'h1',
    ]);
    const mounts = mountsIn(words);
    assert.notEqual(mounts.get('/usual')?.fsType, 'tmpfs');
    assert.equal(mounts.get('/chosen')?.fsType, 'tmpfs');
    for (const { options } of mounts.values()) assert.equal(options[0], 'ro');
  });

  test('belongs to the group of the pod, which may read it', async () => {
    assert.deepEqual(await pods.said('group'), [
      ...[
        '777 0:3000 ./..data ..stamp',
        '2755 0:3000 ./..stamp',
        '2755 0:3000 ./..stamp/deep',
        '2755 0:3000 ./..stamp/deep/er',
        '440 0:3000 ./..stamp/deep/er/pin',
        '777 0:3000 ./..stamp/raw',
        '777 0:3000 ./deep ..data/deep',
        '777 0:3000 ./raw ..data/raw',
      ].toSorted(byPath),
      '1',
      '2000 3000',
    ]);
  });

  test('of the pod itself: fields and amounts', async () => {
    const words = await pods.said('self');
    assert.deepEqual(wordsIn(words), [
      'app=inside',
      'names/name=self-node-1',
      'names/namespace=default',
      'cpu=1500',
      'memory=64',
      'asked=1',
      'disk=10',
      'one=several',
      'lines',
      'labels=app="inside"',
      'tier="back"',
      ...words.filter((word) => /^\d+$/.test(word)).slice(0, 1),
      'note="several\\nlines"',
      '32',
      '440 0:0 /self/..data/labels',
      '404 0:0 /self/..data/app',
      'touch: /self/no: Read-only file system',
    ]);
    assert.equal(mountsIn(words).get('/self')?.fsType, 'tmpfs');
  });

  test('of several sources in one', async () => {
    const words = await pods.said('projected');
    assert.deepEqual(wordsIn(words), [
      ...[
        '777 0:0 ./..data ..stamp',
        '755 0:0 ./..stamp',
        '755 0:0 ./..stamp/map',
        '604 0:0 ./..stamp/map/one',
        '440 0:0 ./..stamp/map/pin',
        '755 0:0 ./..stamp/self',
        '440 0:0 ./..stamp/self/name',
        '777 0:0 ./map ..data/map',
        '777 0:0 ./self ..data/self',
      ].toSorted(byPath),
      '11projected-node-1',
    ]);
    assert.equal(mountsIn(words).get('/all')?.fsType, 'tmpfs');
  });
});

/** As `sort -k 3` has it. */
const byPath = (one: string, other: string): number => {
  const key = (line: string): string => line.split(' ').slice(2).join(' ');
  return key(one) < key(other) ? -1 : 1;
};

describe('what is missing', () => {
  test('holds the pod back, and each is named', async () => {
    const failed = (volume: string, why: string): string => `MountVolume.SetUp failed for volume "${volume}" : ${why}`;
    await pods.told(failed('no-map', 'configmap "nobody" not found'));
    await pods.told(failed('no-secret', 'secret "nobody" not found'));
    await pods.told(failed('no-key', 'configmap references non-existent config key: nothing'));
    await pods.told(failed('no-pin', 'references non-existent secret key: nothing'));
    await pods.told(failed('several', '[configmap "nobody" not found, secret "nobody" not found]'));
    assert.equal((await node.pod('missing'))?.status?.phase, 'Pending');
  });

  test('what only an API server could give is not for pods of manifests', async () => {
    await pods.told('pod token: static pods may not reference serviceaccounts (via projected volumes)');
    await pods.told('pod trust: static pods may not reference clustertrustbundles');
  });

  test('a name that no file can have holds back its own pod; the longest one is fine', async () => {
    await pods.told('MountVolume.SetUp failed for volume "long" : invalid path: a name in it is longer than 255 bytes');
    assert.deepEqual(await pods.said('as-long-as-can-be'), ['1']);
  });

  test('an object that is too large is not taken, and its pod waits for it', async () => {
    await pods.told(
      'a-large.json:1: data: Invalid value: "1048577 bytes": all values together must not have more than',
    );
    await pods.told('MountVolume.SetUp failed for volume "large" : configmap "large" not found');
  });

  test('and optional is not there until it is', async () => {
    const shared = new SharedFolder(node, 'optional');
    const look = (name: string): string => `cat /late/word /fixed/word /part 2>/dev/null > /shared/.${name}`;
    const script = `while [ ! -e /shared/end ]; do ${look('seen')}; mv /shared/.seen /shared/seen; sleep 0.05; done`;
    const volumes = [
      { name: 'late', configMap: { name: 'late', optional: true } },
      { name: 'fixed', configMap: { name: 'fixed' } },
      ...shared.volumes,
    ];
    const volumeMounts = [
      mountPath('late'),
      mountPath('fixed'),
      { name: 'fixed', mountPath: '/part', subPath: 'word' },
      ...shared.mounts.volumeMounts,
    ];
    const main = shell('main', node.image, script, { volumeMounts });
    node.put('optional', podOf('optional', { restartPolicy: 'Never', containers: [main], volumes }));
    const path = shared.file('seen');
    const seen = (text: string) =>
      until(`"${text}" is seen`, () => existsSync(path) && readFileSync(path, 'utf8') === text, {
        state: () => existsSync(path) && readFileSync(path, 'utf8'),
      });
    await seen('firstfirst');
    node.put('a-late', object('ConfigMap', 'late', { data: { word: 'late,' } }));
    await seen('late,firstfirst');
    // What is immutable stays as it was first seen, whatever the manifest says now.
    node.put('a-fixed', object('ConfigMap', 'fixed', { immutable: true, data: { word: 'second' } }));
    node.put('a-late', object('ConfigMap', 'late', { data: { word: 'later,' } }));
    await seen('later,firstfirst');
    node.put('a-late', object('ConfigMap', 'late', { data: {} }));
    await seen('firstfirst');
    writeFileSync(shared.file('end'), '');
    await endedPod(node, 'optional');
  });
});
