import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { hostMounts } from './mounts.ts';
import { readMountInfo } from './mountinfo.ts';
import { setupFolders } from './setup-folders.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe('folders of the agent', () => {
  let base = '';
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'setup-folders-'));
  });
  afterEach(async () => {
    await hostMounts.release(base);
    rmSync(base, { recursive: true });
  });

  test('are made with their modes; those that are there keep theirs, also behind a link', async () => {
    await setupFolders.ensure(join(base, 'a/b'), 0o750);
    assert.deepEqual([modeOf(join(base, 'a')), modeOf(join(base, 'a/b'))], ['750', '750']);
    chmodSync(join(base, 'a/b'), 0o711);
    symlinkSync('a/b', join(base, 'link'));
    await setupFolders.ensure(join(base, 'a/b'), 0o750);
    await setupFolders.ensure(join(base, 'link'), 0o750);
    assert.equal(modeOf(join(base, 'a/b')), '711');
  });

  const isRoot = process.getuid?.() === 0;
  test('can be bound onto themselves and shared', { skip: !isRoot && 'needs root' }, async () => {
    const path = join(base, 'root');
    mkdirSync(path);
    const holder = () => readMountInfo().findLast(({ mountPoint }) => mountPoint === path);
    await setupFolders.bindOntoItself(path);
    assert.notEqual(holder(), undefined);
    await setupFolders.makeShared(path);
    assert.match(holder()?.optionalFields.join(' ') ?? '', /shared:\d+/);
  });

  test('a tmpfs is tried and leaves nothing', { skip: !isRoot && 'needs root' }, async () => {
    await setupFolders.tryTmpfs(base, 'size=1m');
    await assert.rejects(setupFolders.tryTmpfs(base, 'nonsense'), { kind: 'invalid' });
    assert.deepEqual(readdirSync(base), []);
    assert.deepEqual(await hostMounts.atOrBelow(base), []);
  });

  test('a label that the kernel does not know is an error', async () => {
    await assert.rejects(setupFolders.setLabel(join(base, 'none'), 'l'), { kind: 'notFound' });
  });
});
