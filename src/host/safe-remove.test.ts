import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { messageOf } from '../base/errors.ts';
import { readMountInfo } from './mountinfo.ts';
import { safeRemove } from './safe-remove.ts';

interface Folder {
  readonly root: string;
  /** Mounts until the test ends; answers false (and leaves the test out) where that is not allowed. */
  readonly mount: (...args: readonly string[]) => boolean;
}

function folder(context: TestContext): Folder {
  const root = mkdtempSync(join(tmpdir(), 'tubelet-remove-'));
  const mounted: string[] = [];
  context.after(() => {
    for (const path of mounted) execFileSync('umount', [path]);
    rmSync(root, { recursive: true, force: true });
  });
  const mount = (...args: readonly string[]): boolean => {
    try {
      execFileSync('mount', args, { stdio: 'ignore' });
    } catch {
      context.skip('needs the right to mount');
      return false;
    }
    mounted.push(args.at(-1) ?? '');
    return true;
  };
  return { root, mount };
}

test('removes a tree with files, hidden files, links and names that are not UTF-8', async (context) => {
  const { root } = folder(context);
  const tree = join(root, 'tree');
  mkdirSync(join(tree, 'a/b/c'), { recursive: true });
  writeFileSync(join(tree, 'a/b/file'), 'x', { mode: 0o400 });
  writeFileSync(join(tree, '.hidden'), 'x');
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/a/`), Buffer.from([0xff, 0xfe])]), 'x');
  mkdirSync(Buffer.concat([Buffer.from(`${tree}/a/b/`), Buffer.from([0xc3])]));
  symlinkSync('nowhere', join(tree, 'a/dangling'));
  await safeRemove(`${tree}/`);
  assert.deepEqual(readdirSync(root), []);
});

test('a link is removed, its target is not', async (context) => {
  const { root } = folder(context);
  mkdirSync(join(root, 'data'));
  writeFileSync(join(root, 'data/keep'), 'x');
  mkdirSync(join(root, 'tree'));
  symlinkSync(join(root, 'data'), join(root, 'tree/link'));
  symlinkSync(join(root, 'data'), join(root, 'link'));
  await safeRemove(join(root, 'tree'));
  await safeRemove(join(root, 'link'));
  assert.deepEqual(readdirSync(root), ['data']);
  assert.deepEqual(readdirSync(join(root, 'data')), ['keep']);
});

test('a single file, and missing paths', async (context) => {
  const { root } = folder(context);
  writeFileSync(join(root, 'file'), 'x');
  await safeRemove(join(root, 'file/below'));
  await safeRemove(join(root, 'file'));
  await safeRemove(join(root, 'file'));
  await safeRemove(join(root, 'no/such/path'));
  assert.deepEqual(readdirSync(root), []);
});

/** Folders in each other, deeper than any path could name. */
function nest(top: string, depth: number): void {
  mkdirSync(top);
  const before = process.cwd();
  process.chdir(top);
  try {
    for (let level = 0; level < depth; level++) {
      mkdirSync('d');
      process.chdir('d');
    }
    writeFileSync('file', 'x');
  } finally {
    process.chdir(before);
  }
}

test('a tree of any depth is removed with few descriptors, also under names that are taken', async (context) => {
  const { root } = folder(context);
  const tree = join(root, 'tree');
  nest(tree, 1_000);
  mkdirSync(join(tree, '..moved-0/full'), { recursive: true });
  writeFileSync(join(tree, '..moved-1'), '');
  const open = (): number => readdirSync('/proc/self/fd').length;
  const [before, most] = [open(), { seen: 0 }];
  const timer = setInterval(() => (most.seen = Math.max(most.seen, open())), 20);
  try {
    await safeRemove(tree);
  } finally {
    clearInterval(timer);
  }
  assert.deepEqual(readdirSync(root), []);
  assert.ok(most.seen < before + 200, `${most.seen} were open, ${before} before`);
});

test('any number of folders may be too deep', async (context) => {
  const { root } = folder(context);
  const tree = join(root, 'tree');
  const bottom = join(tree, 'd/'.repeat(99));
  mkdirSync(bottom, { recursive: true });
  for (let number = 0; number < 1_200; number++) mkdirSync(join(bottom, `n${number}`, 'full'), { recursive: true });
  await safeRemove(tree);
  assert.deepEqual(readdirSync(root), []);
});

test('a folder of many names is removed: files, links, folders that are empty or not', async (context) => {
  const { root } = folder(context);
  const tree = join(root, 'tree');
  mkdirSync(join(root, 'data'));
  writeFileSync(join(root, 'data/keep'), 'x');
  mkdirSync(tree);
  for (let number = 0; number < 3_000; number++) {
    const path = join(tree, `name-${number}`);
    if (number % 3 === 0) writeFileSync(path, '');
    else if (number % 3 === 1) symlinkSync(join(root, 'data'), path);
    else mkdirSync(join(path, number % 2 === 0 ? 'full' : '.'), { recursive: true });
  }
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0xfe])]), 'x');
  await safeRemove(tree);
  assert.deepEqual(readdirSync(root), ['data']);
  assert.deepEqual(readdirSync(join(root, 'data')), ['keep']);
});

test('a mount among many names is reported, and its contents stay', async (context) => {
  const { root, mount } = folder(context);
  const tree = join(root, 'tree');
  mkdirSync(join(root, 'data'));
  writeFileSync(join(root, 'data/keep'), 'x');
  mkdirSync(join(tree, 'bound'), { recursive: true });
  writeFileSync(join(tree, 'file'), '');
  if (!mount('--bind', join(root, 'data'), join(tree, 'bound'))) return;
  if (!mount('--bind', join(root, 'data/keep'), join(tree, 'file'))) return;
  for (let number = 0; number < 3_000; number++) writeFileSync(join(tree, `name-${number}`), '');
  await assert.rejects(safeRemove(tree, { mounts: () => [] }), /tree\/(bound|file): it is a mount point/);
  assert.deepEqual(readdirSync(join(root, 'data')), ['keep']);
  assert.equal(readFileSync(join(root, 'data/keep'), 'utf8'), 'x');
});

test('entries that cannot be removed in time are left to the next try', async (context) => {
  const { root } = folder(context);
  const tree = join(root, 'tree');
  for (let number = 0; number < 600; number++) mkdirSync(join(tree, `n${number}`, 'full'), { recursive: true });
  let now = 0;
  const clock = { monotonic: () => (now += 4 * 60_000) };
  await assert.rejects(safeRemove(tree, { clock }), { kind: 'timeout', message: /within 10 minutes.*next try/ });
  await safeRemove(tree);
  assert.deepEqual(readdirSync(root), []);
});

test('contents that an earlier removal moved away from a writer are removed with their path', async (context) => {
  const { root } = folder(context);
  const aside = `.removed-${createHash('sha256').update('tree').digest('hex').slice(0, 16)}-2`;
  mkdirSync(join(root, aside, 'full'), { recursive: true });
  await safeRemove(join(root, 'tree'));
  assert.deepEqual(readdirSync(root), []);
});

test('refuses the root and relative paths', async () => {
  for (const path of ['/', '//', '/..', '', '.', 'relative/path']) {
    await assert.rejects(safeRemove(path), { kind: 'invalid' }, path);
  }
});

test('refuses where something is mounted, names it and removes nothing', async (context) => {
  const { root, mount } = folder(context);
  mkdirSync(join(root, 'pod/volume'), { recursive: true });
  writeFileSync(join(root, 'pod/file'), 'x');
  if (!mount('-t', 'tmpfs', 'none', join(root, 'pod/volume'))) return;
  // A link on the way to the tree must not hide the mount.
  symlinkSync(root, `${root}/again`);
  for (const path of [join(root, 'pod'), join(root, 'pod/volume'), join(root, 'again/pod')]) {
    await assert.rejects(safeRemove(path), (error: Error) => {
      assert.equal((error as { kind?: string }).kind, 'conflict');
      assert.match(error.message, /pod\/volume is a mount point \(tmpfs\)/);
      return true;
    });
  }
  assert.deepEqual(readdirSync(join(root, 'pod')), ['file', 'volume']);
});

test('a mount that appears during the removal is not entered, also one of the same file system', async (context) => {
  const { root, mount } = folder(context);
  mkdirSync(join(root, 'data'));
  writeFileSync(join(root, 'data/keep'), 'x');
  mkdirSync(join(root, 'pod/bound'), { recursive: true });
  mkdirSync(join(root, 'other/memory'), { recursive: true });
  if (!mount('--bind', join(root, 'data'), join(root, 'pod/bound'))) return;
  if (!mount('-t', 'tmpfs', 'none', join(root, 'other/memory'))) return;
  writeFileSync(join(root, 'other/memory/keep'), 'x');
  const blind = { mounts: () => [] };
  await assert.rejects(safeRemove(join(root, 'pod'), blind), /pod\/bound: it is a mount point/);
  await assert.rejects(safeRemove(join(root, 'other'), blind), /other\/memory: it is on another file system/);
  assert.equal(readFileSync(join(root, 'data/keep'), 'utf8'), 'x');
  assert.ok(existsSync(join(root, 'other/memory/keep')));
});

test('refuses by the table of mounts alone', async (context) => {
  const { root } = folder(context);
  const tree = join(root, 'tree');
  mkdirSync(join(tree, 'sub'), { recursive: true });
  const [mount] = readMountInfo();
  const mounts = () => [{ ...mount!, mountPoint: join(tree, 'sub'), fsType: 'nfs4' }];
  await assert.rejects(safeRemove(tree, { mounts }), /tree\/sub is a mount point \(nfs4\)/);
  assert.ok(existsSync(join(tree, 'sub')));
});

test('nothing is moved away from a writer once something is mounted in the tree', async (context) => {
  const { root } = folder(context);
  const tree = join(root, 'tree');
  const [mount] = readMountInfo();
  const mounted = [{ ...mount!, mountPoint: join(tree, 'a'), fsType: 'nfs4' }];
  mkdirSync(tree);
  const program = writerIn(tree, 'path');
  await once(program, 'message');
  let reads = 0;
  let outcome: unknown;
  try {
    // The table is read again when the writer was in the way, which it is in most rounds, not in each.
    for (let round = 0; round < 1_000 && reads < 2; round++) {
      reads = 0;
      mkdirSync(tree, { recursive: true });
      outcome = await safeRemove(tree, { mounts: () => (reads++ === 0 ? [] : mounted) }).catch(
        (error: unknown) => error,
      );
    }
  } finally {
    program.kill('SIGKILL');
    await once(program, 'exit');
  }
  assert.match(messageOf(outcome), /tree\/a is a mount point \(nfs4\)/);
  assert.deepEqual(readdirSync(root), ['tree']);
});

/** A program that makes what is removed again and again, by its path or below a folder that it has open. */
function writerIn(tree: string, way: 'path' | 'open'): ChildProcess {
  const place = way === 'path' ? tree : '.';
  const script = `import { mkdirSync, writeFileSync } from 'node:fs';
    const tryTo = (work) => { try { work(); } catch {} };
    process.send('begun');
    for (;;) {
      tryTo(() => mkdirSync(${JSON.stringify(`${place}/a`)}));
      tryTo(() => mkdirSync(${JSON.stringify(`${place}/a/b`)}));
      tryTo(() => writeFileSync(${JSON.stringify(`${place}/a/f`)}, ''));
    }`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: way === 'open' ? join(tree, 'held') : '/',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

for (const way of ['path', 'open'] as const) {
  test(`a process that keeps writing into the tree by ${way === 'path' ? 'its path' : 'a folder that is open'} is no obstacle`, async (context) => {
    const { root } = folder(context);
    const tree = join(root, 'tree');
    mkdirSync(join(tree, 'held'), { recursive: true });
    // One that is left of a removal that was broken off is not in the way.
    mkdirSync(join(root, '.removed-0/full'), { recursive: true });
    const program = writerIn(tree, way);
    await once(program, 'message');
    try {
      await safeRemove(tree);
      assert.equal(program.exitCode, null, 'it still writes');
    } finally {
      program.kill('SIGKILL');
      await once(program, 'exit');
    }
    assert.deepEqual(readdirSync(root), ['.removed-0']);
  });
}
