import assert from 'node:assert/strict';
import { chownSync, lstatSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { changeLargeTree } from './change-large-tree.ts';
import { changeTree } from './change-tree.ts';
import { hostMounts } from './mounts.ts';
import { safeRemove } from './safe-remove.ts';

const rootOnly = { skip: process.getuid?.() === 0 ? false : 'needs root' };
const access = { gid: 7, fileBits: 0o660, folderBits: 0o2770 };
const never = new AbortController().signal;

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'tubelet-tree-'));
  context.after(() => safeRemove(path));
  return path;
}

/** Folders of files; with more than five hundred entries a thread does the work. */
function tree(path: string, folders: number, files: number): readonly string[] {
  const made: string[] = [path];
  for (let outer = 0; outer < folders; outer++) {
    const inner = join(path, `d${outer}`, 'inner');
    mkdirSync(inner, { recursive: true });
    made.push(join(path, `d${outer}`), inner);
    for (let file = 0; file < files; file++) {
      const name = join(inner, `f${file}`);
      writeFileSync(name, '', { mode: 0o600 });
      made.push(name);
    }
  }
  return made;
}

const short = (path: string): string => {
  const { mode, gid } = lstatSync(path);
  return `${(mode & 0o7777).toString(8)} ${gid}`;
};

describe('a tree is given to a group', rootOnly, () => {
  for (const [size, folders, files] of [
    ['small', 3, 4],
    ['large', 3, 200],
  ] as const) {
    test(`${size}: everything, with execute bits unchanged, and links but not their targets`, async (context) => {
      const root = folder(context);
      const volume = join(root, 'v');
      mkdirSync(volume);
      const made = tree(volume, folders, files);
      writeFileSync(join(root, 'outside'), '', { mode: 0o600 });
      symlinkSync('../outside', join(volume, 'link'));
      symlinkSync('..', join(volume, 'up'));
      writeFileSync(Buffer.concat([Buffer.from(`${volume}/`), Buffer.from([0xff, 0xfe])]), '');
      writeFileSync(join(volume, 'program'), '', { mode: 0o4755 });
      chownSync(join(volume, 'program'), 5, 5);
      let counted = 0;
      await changeTree(volume, access, never, (entries) => void (counted += entries));
      const seen = new Set(made.map((path) => `${lstatSync(path).isDirectory() ? 'folder' : 'file'} ${short(path)}`));
      assert.deepEqual([...seen].sort(), ['file 660 7', 'folder 2775 7']);
      assert.deepEqual(
        ['link', 'up'].map((name) => short(join(volume, name))),
        ['777 7', '777 7'],
      );
      assert.deepEqual([short(join(root, 'outside')), short(root)], ['600 0', '700 0']);
      assert.equal(lstatSync(Buffer.concat([Buffer.from(`${volume}/`), Buffer.from([0xff, 0xfe])])).gid, 7);
      assert.equal(lstatSync(join(volume, 'program')).uid, 5);
      assert.equal(counted, made.length + 4);
    });
  }

  test('entries that are right already stay unchanged', async (context) => {
    const root = folder(context);
    const made = tree(root, 3, 200);
    await changeTree(root, access, never);
    const before = made.map((path) => lstatSync(path).ctimeMs);
    await changeTree(root, access, never);
    assert.deepEqual(
      made.map((path) => lstatSync(path).ctimeMs),
      before,
    );
  });

  test('given up: the thread has ended when the promise is settled, and the top, which comes last, is as it was', async (context) => {
    const root = folder(context);
    const made = tree(root, 5, 300);
    const enough = new AbortController();
    const giveUp = (): void => enough.abort(new Error('enough'));
    const changed = (): number => made.filter((path) => lstatSync(path).gid === 7).length;
    try {
      await changeTree(root, access, enough.signal, giveUp);
      assert.equal(changed(), made.length, 'it was faster than we');
    } catch (error) {
      assert.match(String(error), /enough/);
      const then = changed();
      assert.ok(then >= 256 && then < made.length, `${then} of ${made.length}`);
      assert.equal(lstatSync(root).gid, 0);
      assert.equal(changed(), then);
    }
  });

  test('given up before it began', async (context) => {
    const root = folder(context);
    tree(root, 3, 200);
    const gaveUp = new AbortController();
    gaveUp.abort(new Error('enough'));
    await assert.rejects(changeTree(root, access, gaveUp.signal), /enough/);
    await assert.rejects(
      changeLargeTree({ top: root, device: 0, access, maxDepth: 9 }, gaveUp.signal, () => {}),
      /enough/,
    );
  });

  test('a refusal of the disk is reported with its kind', async (context) => {
    const root = folder(context);
    const volume = join(root, 'v');
    mkdirSync(volume);
    tree(volume, 3, 200);
    await hostMounts.bind(volume, volume);
    try {
      await hostMounts.restrict(volume, ['ro']);
      await assert.rejects(changeTree(volume, access, never), { kind: 'denied', message: /EROFS/ });
    } finally {
      await hostMounts.unmount(volume);
    }
  });

  test('a tree that is too deep is refused, not followed until descriptors run out', async (context) => {
    const root = folder(context);
    mkdirSync(join(root, 'd/'.repeat(40)), { recursive: true });
    const { dev: device } = lstatSync(root);
    const change = (maxDepth: number): Promise<void> =>
      changeLargeTree({ top: root, device, access, maxDepth }, never, () => {});
    await assert.rejects(change(39), /nested more than 39 deep/);
    assert.equal(lstatSync(root).gid, 0);
    await change(40);
    assert.equal(lstatSync(root).gid, 7);
  });
});
