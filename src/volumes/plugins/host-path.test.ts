import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { FileKind } from '../../model/file-facts.ts';
import { aPod } from '../../testing/pods.ts';
import { hostPath } from './host-path.ts';

const never = new AbortController().signal;

function setUp(kind?: FileKind | TubeletError) {
  const made: string[] = [];
  let found = kind;
  const plugin = hostPath({
    paths: {
      async makeFolder(path, mode) {
        made.push(`folder ${path} ${mode.toString(8)}`);
        found = 'folder';
      },
      async stat() {
        if (found instanceof TubeletError) throw found;
        return found && { kind: found, mode: 0, uid: 0, gid: 0 };
      },
      async makeFile(path, mode) {
        made.push(`file ${path} ${mode.toString(8)}`);
        found = 'file';
      },
    },
  });
  const up = (type?: string, path = '/p') =>
    plugin.setUp(
      { pod: aPod(), volume: { name: 'v', hostPath: { path, ...(type !== undefined && { type }) } } },
      never,
    );
  return { made, up };
}

const types: readonly (readonly [string, FileKind, string])[] = [
  ['Directory', 'folder', 'a directory'],
  ['DirectoryOrCreate', 'folder', 'a directory'],
  ['File', 'file', 'a file'],
  ['FileOrCreate', 'file', 'a file'],
  ['Socket', 'socket', 'a socket file'],
  ['CharDevice', 'charDevice', 'a character device'],
  ['BlockDevice', 'blockDevice', 'a block device'],
];

describe('a path of the node', () => {
  test('that is relative is refused: it would be relative to the agent’s folder', async () => {
    for (const path of ['', 'etc', './etc']) {
      const { made, up } = setUp();
      await assert.rejects(up('DirectoryOrCreate', path), { message: `hostPath "${path}" must be an absolute path` });
      await assert.rejects(up('', path), { message: `hostPath "${path}" must be an absolute path` });
      assert.deepEqual(made, []);
    }
  });

  test('of no type is taken as it is, there or not', async () => {
    for (const type of [undefined, '']) {
      const { made, up } = setUp();
      assert.deepEqual([await up(type), made], [{ hostPath: '/p' }, []]);
    }
  });

  test('with a zero byte is refused', async () => {
    const { made, up } = setUp();
    await assert.rejects(up('DirectoryOrCreate', '/a\0b'), { message: 'hostPath "/a\\u0000b" has a zero byte' });
    assert.deepEqual(made, []);
  });

  for (const [type, kind, words] of types) {
    test(`${type} that is one`, async () => {
      const { made, up } = setUp(kind);
      assert.deepEqual([await up(type), made], [{ hostPath: '/p' }, []]);
    });

    test(`${type} that is not`, async () => {
      const { made, up } = setUp(kind === 'folder' ? 'file' : 'folder');
      await assert.rejects(up(type), { message: `hostPath type check failed: /p is not ${words}` });
      assert.deepEqual(made, []);
    });

    test(`${type} that is missing`, async () => {
      const { made, up } = setUp();
      if (!type.endsWith('OrCreate')) {
        await assert.rejects(up(type), { message: `hostPath type check failed: /p is not ${words}` });
        return;
      }
      await up(type);
      assert.deepEqual(made, [kind === 'folder' ? 'folder /p 755' : 'file /p 644']);
    });
  }

  test('on storage that does not answer is named in the error', async () => {
    const { up } = setUp(
      new TubeletError('unavailable', '/p: the file system mounted on /p (nfs4, s:/) does not answer'),
    );
    const message = 'hostPath type check failed: /p: the file system mounted on /p (nfs4, s:/) does not answer';
    await assert.rejects(up('Directory'), { kind: 'unavailable', message });
    await up('');
  });

  test('never has steps back, and never another type', async () => {
    const { up } = setUp('folder');
    await assert.rejects(up('', '/a/../etc'), /must not contain '..'/);
    await assert.rejects(up('Pipe'), /Pipe is an invalid volume type/);
  });
});
