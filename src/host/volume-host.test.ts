import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { readMountInfo } from './mountinfo.ts';
import { volumeHost } from './volume-host.ts';

const { contents, paths, mounts } = volumeHost;
const never = new AbortController().signal;
const isRoot = process.getuid?.() === 0;
const rootOnly = { skip: isRoot ? false : 'needs the rights of root' };

function folder(context: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'tubelet-volumes-'));
  context.after(async () => {
    for (const point of await mounts.atOrBelow(root)) await mounts.unmount(point);
    rmSync(root, { recursive: true, force: true });
  });
  return root;
}

const short = (path: string): string => {
  const { mode, uid, gid } = lstatSync(path);
  return `${(mode & 0o7777).toString(8)} ${uid}:${gid}`;
};

describe('contents', rootOnly, () => {
  test('files, folders and links have the owner and the mode that was asked for, whatever the umask', async (context) => {
    const root = folder(context);
    await contents.makeFolder(join(root, 'd'), { mode: 0o2755, gid: 7 });
    await contents.writeFile(join(root, 'd/f'), { content: Buffer.from([0, 255]), mode: 0o666, uid: 5, gid: 7 });
    await contents.replaceLink(join(root, 'l'), 'd/f', { gid: 7 });
    assert.deepEqual(
      ['d', 'd/f', 'l'].map((name) => short(join(root, name))),
      ['2755 0:7', '666 5:7', '777 0:7'],
    );
    assert.deepEqual(
      [...(await contents.readTree(join(root, 'd')))],
      [['f', { content: Buffer.from([0, 255]), mode: 0o666, uid: 5, gid: 7 }]],
    );
    await assert.rejects(contents.writeFile(join(root, 'd/f'), { content: Buffer.from(''), mode: 0o600 }), {
      kind: 'alreadyExists',
    });
  });

  test('a link takes the place of another, also after one was left in the making', async (context) => {
    const root = folder(context);
    await contents.replaceLink(join(root, '..data'), 'one', {});
    symlinkSync('half', join(root, '..data_tmp'));
    await contents.replaceLink(join(root, '..data'), 'two', {});
    assert.equal(readlinkSync(join(root, '..data')), 'two');
    assert.deepEqual(readdirSync(root), ['..data']);
    assert.equal(await contents.readLink(join(root, '..data')), 'two');
    assert.equal(await contents.readLink(join(root, 'none')), undefined);
    assert.equal(await contents.readLink(root), undefined);
    await contents.unlink(join(root, '..data'));
    await contents.unlink(join(root, '..data'));
    assert.deepEqual([...(await contents.readTree(join(root, 'none')))], []);
  });
});

describe('a tree that changes hands', rootOnly, () => {
  const toSeven = { gid: 7, fileBits: 0o070, folderBits: 0o2070 };

  test('everything, links and not their targets, and nothing on another file system', async (context) => {
    const root = folder(context);
    const volume = join(root, 'v');
    mkdirSync(join(volume, 'a/b'), { recursive: true, mode: 0o755 });
    writeFileSync(join(root, 'outside'), '', { mode: 0o600 });
    writeFileSync(join(volume, 'a/b/f'), '', { mode: 0o600 });
    symlinkSync('../outside', join(volume, 'l'));
    symlinkSync('..', join(volume, 'up'));
    mkdirSync(join(volume, 'other'));
    await mounts.mount('tmpfs', join(volume, 'other'), ['size=64k']);
    await paths.changeTree(volume, toSeven, never);
    assert.deepEqual(
      ['.', 'a', 'a/b', 'a/b/f', 'l', 'up'].map((name) => short(join(volume, name))),
      ['2775 0:7', '2775 0:7', '2775 0:7', '670 0:7', '777 0:7', '777 0:7'],
    );
    assert.deepEqual([short(join(root, 'outside')), short(join(volume, 'other'))], ['600 0:0', '1777 0:0']);
  });

  test('an abort ends it, and a missing path is no error', async (context) => {
    const root = folder(context);
    const gaveUp = new AbortController();
    gaveUp.abort(new Error('enough'));
    await assert.rejects(paths.changeTree(root, toSeven, gaveUp.signal), /enough/);
    await paths.changeTree(join(root, 'none'), toSeven, never);
  });
});

describe('a part of a volume', () => {
  const opened = async (volume: string, subPath: string): Promise<string> => {
    const open = await paths.openBelow(volume, subPath);
    try {
      return `${open.isFolder ? 'folder' : 'file'} ${readlinkSync(open.source)}`;
    } finally {
      await open.close();
    }
  };

  test('links may lead anywhere inside', async (context) => {
    const root = folder(context);
    mkdirSync(join(root, 'v/a/b'), { recursive: true });
    writeFileSync(join(root, 'v/a/f'), '');
    symlinkSync('a/b', join(root, 'v/in'));
    symlinkSync('../f', join(root, 'v/a/b/back'));
    symlinkSync('v', join(root, 'named'));
    assert.equal(await opened(join(root, 'v'), 'a/f'), `file ${root}/v/a/f`);
    assert.equal(await opened(join(root, 'v'), 'in'), `folder ${root}/v/a/b`);
    assert.equal(await opened(join(root, 'v'), 'in/back'), `file ${root}/v/a/f`);
    assert.equal(await opened(join(root, 'named'), './a//b/'), `folder ${root}/v/a/b`);
    await assert.rejects(opened(join(root, 'v'), 'none'), { kind: 'notFound' });
    await assert.rejects(opened(join(root, 'v'), 'a/f/x'), { kind: 'invalid' });
  });

  test('but not out', async (context) => {
    const root = folder(context);
    mkdirSync(join(root, 'v/a'), { recursive: true });
    mkdirSync(join(root, 'outside'));
    for (const [name, target] of [
      ['absolute', '/etc'],
      ['up', '../outside'],
      ['upper', 'a/../../outside'],
      ['self', `${root}/v/a`],
    ] as const) {
      symlinkSync(target, join(root, 'v', name));
      await assert.rejects(opened(join(root, 'v'), name), { kind: 'denied', message: /not within volume path/ });
      await assert.rejects(paths.makeBelow(join(root, 'v'), `${name}/made`), { kind: 'denied' });
    }
    symlinkSync('loop', join(root, 'v/loop'));
    await assert.rejects(opened(join(root, 'v'), 'loop'), /too many links/);
    await assert.rejects(opened(join(root, 'v'), '../outside'), { kind: 'denied' });
    await assert.rejects(paths.makeBelow(join(root, 'v'), 'new/../../x'), { kind: 'denied' });
    assert.deepEqual(readdirSync(join(root, 'outside')), []);
  });

  test('nor deeper than a path can lead, however long the links are', async (context) => {
    const root = folder(context);
    mkdirSync(join(root, 'v'));
    const before = process.cwd();
    process.chdir(join(root, 'v'));
    try {
      for (let level = 0; level < 2_500; level++) {
        if (level % 100 === 0) symlinkSync('d/'.repeat(100) + 'on', 'on');
        mkdirSync('d');
        process.chdir('d');
      }
    } finally {
      process.chdir(before);
    }
    await assert.rejects(opened(join(root, 'v'), 'on'), { kind: 'invalid', message: /in more than 2048 folders/ });
    await assert.rejects(paths.makeBelow(join(root, 'v'), 'on/x'), { kind: 'invalid' });
    await volumeHost.files.removeTree(join(root, 'v'));
  });

  test('missing folders get the mode of the volume; existing ones stay unchanged', rootOnly, async (context) => {
    const root = folder(context);
    mkdirSync(join(root, 'v'));
    chownSync(join(root, 'v'), 0, 7);
    await volumeHost.files.makeFolder(join(root, 'v'), 0o2777);
    mkdirSync(join(root, 'v/theirs'), { mode: 0o700 });
    await paths.makeBelow(join(root, 'v'), 'theirs/a/b');
    await paths.makeBelow(join(root, 'v'), 'theirs/a/b');
    assert.deepEqual(
      ['theirs', 'theirs/a', 'theirs/a/b'].map((name) => short(join(root, 'v', name))),
      ['2700 0:7', '2777 0:7', '2777 0:7'],
    );
  });

  test('bound, it is that very folder', rootOnly, async (context) => {
    const root = folder(context);
    mkdirSync(join(root, 'v/a'), { recursive: true });
    writeFileSync(join(root, 'v/a/f'), 'x');
    mkdirSync(join(root, 't'));
    const open = await paths.openBelow(join(root, 'v'), 'a');
    assert.equal(await open.isAt(join(root, 't')), false);
    await mounts.bind(open.source, join(root, 't'));
    assert.equal(await open.isAt(join(root, 't')), true);
    await open.close();
    assert.equal(readFileSync(join(root, 't/f'), 'utf8'), 'x');
    assert.deepEqual(await mounts.atOrBelow(root), [join(root, 't')]);
    await mounts.unmount(join(root, 't'));
    await mounts.unmount(join(root, 't'));
    assert.deepEqual(await mounts.atOrBelow(root), []);
  });

  test('a missing path means no mount; an unreadable one is located by its folder', async (context) => {
    const root = folder(context);
    symlinkSync('circle', join(root, 'circle'));
    assert.deepEqual(await mounts.atOrBelow(join(root, 'none')), []);
    assert.deepEqual(await mounts.atOrBelow(join(root, 'circle')), []);
    await assert.rejects(mounts.atOrBelow(join(root, 'circle', 'below', 'it')), { code: 'ELOOP' });
  });
});

describe('what is bound', rootOnly, () => {
  const optionsOf = (path: string): readonly string[] =>
    readMountInfo().findLast(({ mountPoint }) => mountPoint === path)?.options ?? [];

  /** A disk of the node that is shared, as disks are on most nodes, and a place to show it at. */
  async function sharedDisk(context: TestContext): Promise<{ disk: string; shown: string }> {
    const root = folder(context);
    const [disk, shown] = [join(root, 'disk'), join(root, 'shown')];
    mkdirSync(disk);
    mkdirSync(shown);
    await mounts.mount('tmpfs', disk, ['size=64k']);
    execFileSync('mount', ['--make-shared', disk]);
    mkdirSync(join(disk, 'nested'));
    writeFileSync(join(disk, 'precious'), '');
    return { disk, shown };
  }

  test('loses rights at its place alone, and keeps those it never had', async (context) => {
    const { disk, shown } = await sharedDisk(context);
    await mounts.bind(disk, shown);
    await mounts.restrict(shown, ['noexec', 'hard', 'nfsvers=4.1']);
    await mounts.restrict(shown, ['ro']);
    await mounts.restrict(shown, []);
    assert.deepEqual(
      ['ro', 'noexec'].filter((option) => optionsOf(shown).includes(option)),
      ['ro', 'noexec'],
    );
    assert.equal(optionsOf(disk).includes('rw'), true);
    assert.throws(() => writeFileSync(join(shown, 'new'), ''), { code: 'EROFS' });
    writeFileSync(join(disk, 'new'), '');
  });

  test('is unmounted without mounts that other programs made below its source', async (context) => {
    const { disk, shown } = await sharedDisk(context);
    await mounts.bind(disk, shown);
    const [nested, seen] = [join(disk, 'nested'), join(shown, 'nested')];
    await mounts.mount('tmpfs', nested, ['size=64k']);
    assert.deepEqual(await mounts.atOrBelow(shown), [seen, shown], 'it is seen here too');
    await mounts.release(shown);
    assert.deepEqual(await mounts.atOrBelow(shown), []);
    assert.deepEqual(await mounts.atOrBelow(disk), [nested, disk], 'it is still there');
    assert.equal(existsSync(join(disk, 'precious')), true);
  });

  test('cannot be removed as if it were empty; an empty folder can', async (context) => {
    const { disk, shown } = await sharedDisk(context);
    await mounts.bind(disk, shown);
    await assert.rejects(volumeHost.files.removeEmpty(shown), { kind: 'conflict' });
    await mounts.release(shown);
    await volumeHost.files.removeEmpty(shown);
    await volumeHost.files.removeEmpty(shown);
    assert.equal(existsSync(shown), false);
    await assert.rejects(volumeHost.files.removeEmpty(join(disk, '..')), { kind: 'conflict' });
  });

  test('is found through a link above it and at the end of one', async (context) => {
    const { disk, shown } = await sharedDisk(context);
    await mounts.bind(disk, shown);
    const link = `${shown}-link`;
    symlinkSync(shown, link);
    assert.deepEqual(await mounts.atOrBelow(link), [link]);
    symlinkSync(join(shown, '..'), `${shown}-above`);
    assert.deepEqual(await mounts.atOrBelow(`${shown}-above/shown`), [`${shown}-above/shown`]);
    assert.deepEqual(await mounts.atOrBelow(`${shown}-above/shown/nested`), []);
  });

  test('a source is held open: what is shown is what was inspected', async (context) => {
    const { disk, shown } = await sharedDisk(context);
    const [link, elsewhere] = [`${disk}-link`, join(disk, 'nested')];
    symlinkSync(disk, link);
    const open = await paths.openBelow(link, '');
    try {
      unlinkSync(link);
      symlinkSync(elsewhere, link);
      await paths.changeTree(`${open.source}/.`, { gid: 7, fileBits: 0, folderBits: 0 }, never);
      await mounts.bind(open.source, shown);
    } finally {
      await open.close();
    }
    assert.deepEqual(readdirSync(shown).toSorted(), ['nested', 'precious']);
    assert.equal(short(join(shown, 'precious')).endsWith(':7'), true);
  });
});

/**
 * Swaps a folder of a volume for a link that leads out and back, as fast as it can, until it is asked to end.
 */
const swapper = `
  const { workerData: { volume, flag } } = require('node:worker_threads');
  const { renameSync, rmSync } = require('node:fs');
  const stop = new Int32Array(flag);
  const move = (from, to) => {
    for (;;) {
      try {
        return renameSync(volume + from, volume + to);
      } catch {
        // Another process made the folder while it was missing, and may still write to it.
        try {
          rmSync(volume + to, { recursive: true, force: true });
        } catch {}
      }
    }
  };
  while (Atomics.load(stop, 0) === 0) {
    move('/a', '/real');
    move('/link', '/a');
    move('/a', '/link');
    move('/real', '/a');
  }
`;

test('a container that swaps folders for links never gets us out of its volume', rootOnly, async (context) => {
  const root = folder(context);
  const [volume, outside] = [join(root, 'v'), join(root, 'outside')];
  mkdirSync(join(volume, 'a/b'), { recursive: true });
  mkdirSync(join(outside, 'b'), { recursive: true });
  writeFileSync(join(outside, 'b/secret'), '', { mode: 0o600 });
  symlinkSync('../outside', join(volume, 'link'));
  const flag = new SharedArrayBuffer(4);
  const worker = new Worker(swapper, { eval: true, workerData: { volume, flag } });
  let reached = 0;
  try {
    for (let round = 0; round < 2_000; round++) {
      const open = await paths.openBelow(volume, 'a/b').catch(() => undefined);
      if (open !== undefined) {
        reached++;
        assert.equal(await open.isAt(join(outside, 'b')), false, `round ${round}`);
        await open.close();
      }
      if (round % 40 === 0) await paths.makeBelow(volume, `a/made-${round}`).catch(() => undefined);
      if (round % 200 === 0) await paths.changeTree(volume, { gid: 7, fileBits: 0, folderBits: 0 }, never);
    }
  } finally {
    Atomics.store(new Int32Array(flag), 0, 1);
    await new Promise((resolve) => worker.once('exit', resolve));
  }
  assert.ok(reached > 0);
  assert.deepEqual([readdirSync(outside), readdirSync(join(outside, 'b'))], [['b'], ['secret']]);
  assert.deepEqual([short(outside), short(join(outside, 'b/secret'))], ['755 0:0', '600 0:0']);
  assert.equal(existsSync(join(outside, 'made-0')), false);
});
