import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { systemClock } from '../../base/system-clock.ts';
import { nodeFiles } from '../../host/index.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { defaultPodRules } from '../../model/validation/index.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { FileSource } from './file-source.ts';

/** The real file system and clock. The poll is an hour away, so only events can make these tests pass. */
const hour = 3_600_000;

let root: string;
let folder: string;
let log: MemoryLog;
let source: FileSource | undefined;
/** All sets published so far, as names. */
let sets: string[];
let pods: readonly DesiredPod[];
let onSet: () => void;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tubelet-sources-'));
  folder = join(root, 'manifests');
  log = new MemoryLog();
  sets = [];
  pods = [];
  onSet = () => {};
});
afterEach(async () => {
  await source?.stop();
  source = undefined;
  await rm(root, { recursive: true, force: true });
});

async function start(path = folder): Promise<void> {
  source = new FileSource({
    preventApiReferences: true,
    allowFolderObjects: false,
    rules: defaultPodRules,
    onObjects: () => undefined,
    clock: systemClock(),
    log,
    files: nodeFiles,
    path,
    nodeName: 'node',
    fileCheckFrequencyMs: hour,
    onSet: (_source, published) => {
      pods = published;
      sets.push(published.map((pod) => pod.name.replace(/-node$/, '')).join(' '));
      onSet();
    },
  });
  await source.start(new AbortController().signal);
}

/** Waits until the set published last has these names. */
async function until(names: string): Promise<void> {
  if (sets.at(-1) === names) return;
  await new Promise<void>((resolve) => {
    onSet = () => {
      if (sets.at(-1) === names) resolve();
    };
  });
}

/** Waits until so many sets were published. */
async function untilPublished(count: number): Promise<void> {
  if (sets.length >= count) return;
  await new Promise<void>((resolve) => {
    onSet = () => {
      if (sets.length >= count) resolve();
    };
  });
}

/** Long enough for every reading that the events so far can cause. */
const quiet = (): Promise<void> => systemClock().sleep(150);

const manifest = (name: string, image = 'i'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: ${image}}]}\n`;
const put = (file: string, text: string): Promise<void> => writeFile(join(folder, file), text);

test('files come, change and go', async () => {
  await mkdir(folder);
  await put('a.yaml', manifest('a'));
  await start();
  assert.deepEqual(sets, ['a']);
  const before = pods[0];
  assert.equal(before?.namespace, 'default');

  await put(
    'b.json',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'b' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }),
  );
  await until('a b');
  assert.equal(pods[0], before, 'an unchanged file is not read again');

  await put('a.yaml', manifest('a2'));
  await until('a2 b');
  await rm(join(folder, 'a.yaml'));
  await until('b');
});

test('a file renamed into the folder is added, one renamed away is removed', async () => {
  await mkdir(folder);
  await start();
  assert.deepEqual(sets, ['']);
  await writeFile(join(root, 'a.yaml'), manifest('a'));
  await rename(join(root, 'a.yaml'), join(folder, 'a.yaml'));
  await until('a');
  await rename(join(folder, 'a.yaml'), join(folder, '.a.yaml'));
  await until('');
  await rename(join(folder, '.a.yaml'), join(folder, 'z.yml'));
  await until('a');
});

test('an edit that keeps size and times is seen all the same', async () => {
  await mkdir(folder);
  await put('a.yaml', manifest('one'));
  await start();
  await put('a.yaml', manifest('two'));
  await until('two');
});

test('a path that comes later, with the folders above it', async () => {
  await start(join(root, 'x', 'y', 'manifests'));
  assert.deepEqual(sets, ['']);
  folder = join(root, 'x', 'y', 'manifests');
  await mkdir(folder, { recursive: true });
  await put('a.yaml', manifest('a'));
  await until('a');
});

test('a folder that is replaced is followed', async () => {
  await mkdir(folder);
  await put('a.yaml', manifest('a'));
  await start();
  await mkdir(join(root, 'other'));
  await writeFile(join(root, 'other', 'b.yaml'), manifest('b'));
  await rename(folder, join(root, 'old'));
  await rename(join(root, 'other'), folder);
  await until('b');
  assert.ok(!sets.includes(''), 'no pod is killed while the folder is missing');
  await put('c.yaml', manifest('c'));
  await until('b c');
});

test('a folder that is deleted empties the set; made again, it is followed', async () => {
  await mkdir(folder);
  await put('a.yaml', manifest('a'));
  await start();
  await rm(folder, { recursive: true });
  await until('');
  await mkdir(folder);
  await put('b.yaml', manifest('b'));
  await until('b');
});

test('a link to a folder that is swapped is followed', async () => {
  for (const name of ['one', 'two']) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, 'a.yaml'), manifest(name));
  }
  await symlink('one', folder);
  await start();
  assert.deepEqual(sets, ['one']);
  await symlink('two', join(root, 'next'));
  await rename(join(root, 'next'), folder);
  await until('two');
});

test('files swapped below links, as volumes of config maps do it', async () => {
  await mkdir(join(folder, '..1'), { recursive: true });
  await mkdir(join(folder, '..2'));
  await put('..1/a.yaml', manifest('one'));
  await put('..2/a.yaml', manifest('two'));
  await symlink('..1', join(folder, '..data'));
  await symlink('..data/a.yaml', join(folder, 'a.yaml'));
  await start();
  assert.deepEqual(sets, ['one']);
  await symlink('..2', join(folder, '..tmp'));
  await rename(join(folder, '..tmp'), join(folder, '..data'));
  await until('two');
});

test('one file as path', async () => {
  const file = join(root, 'pod.manifest');
  await start(file);
  assert.deepEqual(sets, ['']);
  await writeFile(file, `${manifest('a')}---\n${manifest('b')}`);
  await until('a b');
  await writeFile(join(root, 'next'), manifest('c'));
  await rename(join(root, 'next'), file);
  await until('c');
  await rm(file);
  await until('');
});

test('what is no manifest is passed over', async () => {
  await mkdir(join(folder, 'sub.yaml'), { recursive: true });
  await put('notes.txt', 'x');
  await put('.hidden.yaml', manifest('hidden'));
  await put('sub.yaml/deep.yaml', manifest('deep'));
  await put('a.yml', manifest('a'));
  await start();
  assert.deepEqual(sets, ['a']);
  const passed = log.entries.filter((entry) => entry.message === 'Passing over what is no manifest');
  assert.deepEqual(
    passed.map((entry) => [entry.level, entry.fields['path']]),
    [
      [2, join(folder, 'notes.txt')],
      [2, join(folder, 'sub.yaml')],
    ],
  );
  assert.deepEqual(log.messages('error'), []);
});

test('nothing is published after stop, and no handle is left', async () => {
  await mkdir(folder);
  await start();
  await source?.stop();
  await put('a.yaml', manifest('a'));
  assert.deepEqual(sets, ['']);
  assert.ok(!process.getActiveResourcesInfo().includes('FSEventWrap'));
});

test('a file deleted and written again at once was removed in between', async () => {
  await mkdir(folder);
  await put('a.yaml', manifest('a'));
  await put('b.yaml', manifest('b'));
  await start();
  const [before, other] = pods;
  rmSync(join(folder, 'a.yaml'));
  writeFileSync(join(folder, 'a.yaml'), manifest('a'));
  await untilPublished(3);
  assert.deepEqual(sets, ['a b', 'b', 'a b']);
  assert.equal(pods[0]?.uid, before?.uid);
  assert.notEqual(pods[0], before);
  assert.equal(pods[1], other);
});

test('a file moved away and back at once was removed in between', async () => {
  await mkdir(folder);
  await put('a.yaml', manifest('a'));
  await start();
  renameSync(join(folder, 'a.yaml'), join(root, 'a.yaml'));
  renameSync(join(root, 'a.yaml'), join(folder, 'a.yaml'));
  await untilPublished(3);
  assert.deepEqual(sets, ['a', '', 'a']);
});

test('a file replaced by renaming was there throughout, however often', async () => {
  await mkdir(folder);
  await put('a.yaml', manifest('a'));
  await start();
  for (const from of [join(root, 'a.yaml'), join(folder, '.a.new')]) {
    writeFileSync(from, manifest('a'));
    renameSync(from, join(folder, 'a.yaml'));
    await quiet();
  }
  for (let n = 0; n < 5; n++) {
    writeFileSync(join(folder, '.a.new'), manifest('a'));
    renameSync(join(folder, '.a.new'), join(folder, 'a.yaml'));
  }
  await quiet();
  assert.deepEqual(sets, ['a']);
});

test('deleted and written again, many times', async () => {
  await mkdir(folder);
  await put('a.yaml', manifest('a'));
  await start();
  for (let n = 1; n <= 5; n++) {
    rmSync(join(folder, 'a.yaml'));
    writeFileSync(join(folder, 'a.yaml'), manifest('a'));
    await untilPublished(1 + 2 * n);
    await quiet();
    assert.deepEqual(sets.slice(-2), ['', 'a']);
    assert.equal(sets.length, 1 + 2 * n);
  }
});
