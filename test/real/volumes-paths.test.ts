import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RealNode } from '../support/real-node.ts';
import { containerOf, podWhen } from '../support/real-pods.ts';
import type { Program } from '../support/real-program.ts';
import { hostPath, mountsAt, mountsIn, VolumePods, wordsIn } from '../support/real-volumes.ts';

/** Paths of the node and images in containers: what stands there, what is made, and what is refused. */
let node: RealNode;
let agent: Program;
let pods: VolumePods;
let folder: string;
let server: Server;
before(async () => {
  node = await RealNode.start('paths');
  pods = new VolumePods(node, () => agent);
  folder = join(node.path, 'host');
  mkdirSync(join(folder, 'full/deep'), { recursive: true });
  writeFileSync(join(folder, 'file'), 'words');
  writeFileSync(join(folder, 'full/deep/word'), 'deep');
  symlinkSync('full', join(folder, 'link'));
  server = createServer();
  await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve));
  putKinds();
  putWrong();
  agent = await node.workingAgent();
});
after(async () => {
  server?.close();
  await node?.destroy();
});

function putKinds(): void {
  const [device] = readdirSync('/sys/block').filter((name) => existsSync(`/dev/${name}`));
  const volumes = [
    hostPath('any', folder),
    hostPath('none', join(folder, 'full'), ''),
    hostPath('dir', join(folder, 'full'), 'Directory'),
    hostPath('newdir', join(folder, 'made/by/agent'), 'DirectoryOrCreate'),
    hostPath('olddir', join(folder, 'link'), 'DirectoryOrCreate'),
    hostPath('file', join(folder, 'file'), 'File'),
    hostPath('newfile', join(folder, 'made-file'), 'FileOrCreate'),
    hostPath('oldfile', join(folder, 'file'), 'FileOrCreate'),
    hostPath('socket', join(folder, 'socket'), 'Socket'),
    hostPath('null', '/dev/null', 'CharDevice'),
    ...(device === undefined ? [] : [hostPath('disk', `/dev/${device}`, 'BlockDevice')]),
  ];
  const paths = volumes.map(({ name }) => `/${name}`);
  const script = [
    `stat -c '%F %n' ${paths.join(' ')}`,
    'cat /file; echo; cat /olddir/deep/word; echo; stat -c %a /newdir /newfile',
    mountsAt('/any', '/file'),
    'echo more >> /oldfile; touch /any/from-inside',
  ];
  pods.putScript('kinds', script, { volumes });
}

function putWrong(): void {
  const rows = [
    ['no-dir', join(folder, 'nothing'), 'Directory'],
    ['no-file', join(folder, 'nothing'), 'File'],
    ['no-socket', join(folder, 'nothing'), 'Socket'],
    ['no-char', join(folder, 'nothing'), 'CharDevice'],
    ['no-block', join(folder, 'nothing'), 'BlockDevice'],
    ['new-dir', join(folder, 'file'), 'DirectoryOrCreate'],
    ['new-file', join(folder, 'full'), 'FileOrCreate'],
    ['no-parent', join(folder, 'nowhere/file'), 'FileOrCreate'],
  ] as const;
  pods.putScript('wrong', ['true'], { volumes: rows.map(([name, path, type]) => hostPath(name, path, type)) });
  pods.putScript('bad-type', ['true'], { volumes: [hostPath('bad', folder, 'Folder')] });
  pods.putScript('backstep', ['true'], { volumes: [hostPath('bad', `${folder}/../x`)] });
  const repository = 'https://example.invalid/repository.git';
  pods.putScript('git', ['true'], { volumes: [{ name: 'sources', gitRepo: { repository } }] });
  pods.putScript('old', ['true'], { volumes: [{ name: 'ceph', rbd: { monitors: ['a'], image: 'b' } }] });
  pods.putScript('name', ['true'], { volumes: [{ name: 'n'.repeat(64), emptyDir: {} }] });
}

describe('paths of the node', () => {
  test('are what they should be, made where that is asked for, and changed in place', async () => {
    const words = await pods.said('kinds');
    const kinds = new Map(
      words.filter((word) => / \/\w+$/.test(word)).map((word) => [word.split(' /')[1], word.split(' /')[0]]),
    );
    assert.deepEqual(
      ['any', 'none', 'dir', 'newdir', 'olddir', 'file', 'newfile', 'oldfile', 'socket', 'null'].map((name) =>
        kinds.get(name),
      ),
      [
        ...Array.from({ length: 5 }, () => 'directory'),
        ...file('words'),
        ...file(''),
        ...file('words'),
        'socket',
        'character special file',
      ],
    );
    if (kinds.has('disk')) assert.equal(kinds.get('disk'), 'block special file');
    assert.deepEqual(
      wordsIn(words).filter((word) => !/ \/\w+$/.test(word)),
      ['words', 'deep', '755', '644'],
    );
    assert.deepEqual(
      [...mountsIn(words).values()].map(({ options, optionalFields }) => [options[0], optionalFields]),
      [
        ['rw', []],
        ['rw', []],
      ],
    );
    assert.equal(readFileSync(join(folder, 'file'), 'utf8'), 'wordsmore\n');
    assert.ok(existsSync(join(folder, 'from-inside')));
  });

  test('that are missing or something else hold the pod back, each with the reason', async () => {
    const failed = (volume: string, path: string, words: string): Promise<void> =>
      pods.told(
        `MountVolume.SetUp failed for volume "${volume}" : hostPath type check failed: ${join(folder, path)} is not ${words}`,
      );
    await failed('no-dir', 'nothing', 'a directory');
    await failed('no-file', 'nothing', 'a file');
    await failed('no-socket', 'nothing', 'a socket file');
    await failed('no-char', 'nothing', 'a character device');
    await failed('no-block', 'nothing', 'a block device');
    await failed('new-dir', 'file', 'a directory');
    await failed('new-file', 'full', 'a file');
    await pods.told(`MountVolume.SetUp failed for volume "no-parent" : `);
    // Nothing was made in passing, not even the folder of a file that was asked for.
    assert.deepEqual(
      ['nothing', 'nowhere'].filter((name) => existsSync(join(folder, name))),
      [],
    );
  });

  test('of no kind there is, with steps back, and volumes that are refused by design, are told of by name', async () => {
    await pods.told('spec.volumes[0].hostPath.type: Unsupported value: "Folder"');
    await pods.told(`spec.volumes[0].hostPath.path: Invalid value: "${folder}/../x": must not contain '..'`);
    await pods.told(
      'volume "sources" is a gitRepo, which is refused by design: it ran git of the node on what others wrote.',
    );
    await pods.told('volume "ceph" is of a kind that this version cannot mount: rbd. Use a CSI driver');
    await pods.told('spec.volumes[0].name: Invalid value: ');
  });
});

/** What stat calls a file with so much in it. */
const file = (content: string): readonly string[] => [content === '' ? 'regular empty file' : 'regular file'];

describe('an image as a volume', () => {
  const put = (name: string): void =>
    pods.putScript(
      name,
      ['test -x /image/bin/busybox && echo there', 'touch /image/no 2>&1; true', mountsAt('/image')],
      {
        volumes: [{ name: 'image', image: { reference: node.image, pullPolicy: 'Never' } }],
      },
    );

  test('is a kind that is not known unless it is switched on', async () => {
    put('no-images');
    await pods.told('volume "image" is of a kind that this version cannot mount: image');
  });

  test('is mounted by the runtime, for reading', async (context) => {
    await agent.end();
    agent = await node.workingAgent(['--feature-gates=ImageVolume=true']);
    put('images');
    const pod = await podWhen(node, 'images', 'has ended or cannot be made', ({ status }) =>
      /CreateContainerError|terminated/.test(JSON.stringify(status)),
    );
    const { waiting } = containerOf(pod, 'main').state ?? {};
    // A runtime that does not know the field sees a mount of nothing.
    if (waiting?.message?.includes('failed to mkdir ""') === true) {
      return context.skip(`this runtime has no image volumes (${waiting.message.split(': ').slice(1).join(': ')})`);
    }
    const words = await pods.said('images');
    assert.deepEqual(wordsIn(words), ['there', 'touch: /image/no: Read-only file system']);
    assert.equal(mountsIn(words).get('/image')?.options[0], 'ro');
  });
});
