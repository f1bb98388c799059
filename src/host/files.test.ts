import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, mkdtemp, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isKind, type ErrorKind } from '../base/errors.ts';
import { hostFiles } from './files.ts';

let root = '';
let umask = 0;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'host-files-'));
  // The strictest one: whatever mode comes out is the one that was asked for.
  umask = process.umask(0o077);
});
after(async () => {
  process.umask(umask);
  await hostFiles.removeTree(root);
});

const modeOf = async (path: string): Promise<string> => ((await lstat(path)).mode & 0o7777).toString(8);

const rejects = (promise: Promise<unknown>, kind: ErrorKind): Promise<void> =>
  assert.rejects(promise, (error: unknown) => {
    assert.equal(isKind(error, kind), true, String(error));
    return true;
  });

describe('makeFolder', () => {
  test('makes those above too, all with the mode', async () => {
    const [top, middle, leaf] = ['a', 'a/b', 'a/b/c'].map((path) => join(root, path)) as [string, string, string];
    await hostFiles.makeFolder(leaf, 0o757);
    assert.deepEqual(await Promise.all([top, middle, leaf].map(modeOf)), ['757', '757', '757']);
  });

  test('an existing folder gets the mode; those above it keep theirs', async () => {
    const path = join(root, 'kept/inner');
    await hostFiles.makeFolder(path, 0o700);
    await hostFiles.makeFolder(path, 0o777);
    assert.deepEqual([await modeOf(join(root, 'kept')), await modeOf(path)], ['700', '777']);
    await hostFiles.makeFolder(join(path, 'x/y'), 0o750);
    assert.deepEqual([await modeOf(path), await modeOf(join(path, 'x'))], ['777', '750']);
  });

  test('a path with dots changes only the folders that were made', async () => {
    await chmod(root, 0o711);
    await hostFiles.makeFolder(`${root}/round/../about/./way/`, 0o755);
    const modes = await Promise.all([root, join(root, 'about'), join(root, 'about/way')].map(modeOf));
    assert.deepEqual(modes, ['711', '755', '755']);
  });

  test('a file in the way is an error', async () => {
    const path = join(root, 'file-in-the-way');
    await writeFile(path, '');
    await rejects(hostFiles.makeFolder(path, 0o755), 'alreadyExists');
  });
});

describe('writeFile', () => {
  test('has exactly the mode, new or old', async () => {
    const path = join(root, 'modes');
    await hostFiles.writeFile(path, 'one', 0o666);
    assert.equal(await modeOf(path), '666');
    await chmod(path, 0o600);
    await hostFiles.writeFile(path, 'two', 0o644);
    assert.equal(await modeOf(path), '644');
  });

  test('replaces the content in place: a container with the file mounted sees the new one', async () => {
    const path = join(root, 'in-place');
    await hostFiles.writeFile(path, 'a long first content', 0o644);
    const { ino } = await stat(path);
    await hostFiles.writeFile(path, 'short', 0o644);
    assert.equal(await readFile(path, 'utf8'), 'short');
    assert.equal((await stat(path)).ino, ino);
  });

  test('a missing folder is an error', async () => {
    await rejects(hostFiles.writeFile(join(root, 'no/such/file'), '', 0o644), 'notFound');
  });
});

describe('readText and list', () => {
  test('read existing files', async () => {
    const folder = join(root, 'listed');
    await mkdir(join(folder, 'inner'), { recursive: true });
    await writeFile(join(folder, 'text'), 'grüße\n');
    assert.equal(await hostFiles.readText(join(folder, 'text')), 'grüße\n');
    assert.deepEqual([...(await hostFiles.list(folder))].toSorted(), ['inner', 'text']);
  });

  test('a missing file is an error, a missing folder is empty', async () => {
    await rejects(hostFiles.readText(join(root, 'nothing')), 'notFound');
    assert.deepEqual(await hostFiles.list(join(root, 'nothing')), []);
  });

  test('only folders can be listed, and only files read', async () => {
    const path = join(root, 'plain');
    await writeFile(path, '');
    await rejects(hostFiles.list(path), 'internal');
    await rejects(hostFiles.readText(root), 'internal');
  });

  test('the message of the system is kept', async () => {
    await assert.rejects(hostFiles.readText(join(root, 'nothing')), (error: Error) => {
      assert.match(error.message, /ENOENT.*nothing/);
      assert.equal((error.cause as NodeJS.ErrnoException).code, 'ENOENT');
      return true;
    });
  });
});

describe('removeTree', () => {
  test('removes a tree, and a missing one is no error', async () => {
    const path = join(root, 'tree');
    await hostFiles.makeFolder(join(path, 'a/b'), 0o755);
    await hostFiles.writeFile(join(path, 'a/file'), '', 0o600);
    await hostFiles.removeTree(path);
    assert.deepEqual(await hostFiles.list(path), []);
    await hostFiles.removeTree(path);
  });

  test('follows no link', async () => {
    const [path, outside] = [join(root, 'linked'), join(root, 'outside')];
    await hostFiles.makeFolder(path, 0o755);
    await hostFiles.makeFolder(outside, 0o755);
    await hostFiles.writeFile(join(outside, 'kept'), '', 0o600);
    await symlink(outside, join(path, 'link'));
    await hostFiles.removeTree(path);
    assert.deepEqual(await hostFiles.list(outside), ['kept']);
  });
});

test('the end of a file, and no further than the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tubelet-files-'));
  const path = join(folder, 'words');
  await hostFiles.writeFile(path, 'one two three', 0o644);
  assert.equal(await hostFiles.readEnd(path, 5), 'three');
  assert.equal(await hostFiles.readEnd(path, 500), 'one two three');
  await symlink(path, join(folder, 'link'));
  await assert.rejects(hostFiles.readEnd(join(folder, 'link'), 5));
  await assert.rejects(hostFiles.readEnd(join(folder, 'none'), 5), { kind: 'notFound' });
  await hostFiles.removeTree(folder);
});
