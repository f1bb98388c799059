import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { defaultPodRules } from '../../model/validation/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { ManifestFolder } from '../../testing/manifest-folder.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { FileSource } from './file-source.ts';

const manifest = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: i}]}\n`;

interface World {
  readonly files: ManifestFolder;
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  readonly source: FileSource;
  readonly sets: string[];
  readonly pods: () => readonly DesiredPod[];
}

async function world(
  texts: Readonly<Record<string, string>>,
  prepare: (files: ManifestFolder) => void = () => {},
): Promise<World> {
  const files = new ManifestFolder();
  for (const [path, text] of Object.entries(texts)) files.texts.set(path, text);
  prepare(files);
  const clock = new FakeClock();
  const log = new MemoryLog();
  const sets: string[] = [];
  let last: readonly DesiredPod[] = [];
  const source = new FileSource({
    preventApiReferences: true,
    allowFolderObjects: false,
    rules: defaultPodRules,
    onObjects: () => undefined,
    clock,
    log,
    files,
    path: '/m',
    nodeName: 'node',
    fileCheckFrequencyMs: 20_000,
    onSet: (_source, pods) => {
      last = pods;
      sets.push(pods.map((pod) => pod.name.replace(/-node$/, '')).join(' '));
    },
  });
  await source.start(new AbortController().signal);
  return { files, clock, log, source, sets, pods: () => last };
}

const errorsOf = (log: MemoryLog): string[] =>
  log.entries.filter((entry) => entry.severity === 'error').map((entry) => (entry.error as Error).message);

test('a file read while it was half-written is read again and never reported', async () => {
  const { files, clock, log, sets } = await world({ '/m/a.yaml': manifest('a') });
  files.put('/m/a.yaml', manifest('b').slice(0, 40));
  await clock.advance(150);
  assert.deepEqual(sets, ['a']);
  files.put('/m/a.yaml', manifest('b'));
  await clock.advance(5);
  assert.deepEqual(sets, ['a', 'b']);
  assert.deepEqual(errorsOf(log), []);
});

test('without any event the next poll finds the rest', async () => {
  const { files, clock, sets, log } = await world({ '/m/a.yaml': '' });
  assert.deepEqual(sets, ['']);
  files.texts.set('/m/a.yaml', manifest('a'));
  await clock.advance(100);
  assert.deepEqual(sets, ['', 'a']);
  assert.deepEqual(errorsOf(log), []);
});

test('a bad manifest: once in the log with file and line, last good pods kept, others unharmed', async () => {
  const { files, clock, log, sets } = await world({ '/m/a.yaml': manifest('a'), '/m/b.yaml': manifest('b') });
  files.put('/m/a.yaml', manifest('a').replace('image: i', 'image: ""'));
  await clock.advance(150);
  assert.deepEqual(errorsOf(log), []);
  await clock.advance(100);
  const said = ['/m/a.yaml:4: spec.containers[0].image: Required value'];
  assert.deepEqual(errorsOf(log), said);
  assert.deepEqual(log.messages('warn'), ['Keeping the pods of the last good manifest running']);
  files.put('/m/c.yaml', manifest('c'));
  await clock.advance(60_000);
  assert.deepEqual(sets, ['a b', 'a b c']);
  assert.deepEqual(errorsOf(log), said);
  files.remove('/m/a.yaml');
  await clock.advance(5);
  assert.equal(sets.at(-1), 'b c');
});

test('an unknown field is warned of once per content', async () => {
  const text = manifest('a').replace('spec: {', 'spec: {hostNetwrok: true, ');
  const { files, clock, log, sets } = await world({ '/m/a.yaml': text });
  files.emit('/m/a.yaml');
  await clock.advance(60_000);
  assert.deepEqual(sets, ['a']);
  const warnings = log.entries.filter((entry) => entry.severity === 'warn');
  assert.deepEqual(
    warnings.map((entry) => entry.fields),
    [
      {
        path: '/m/a.yaml',
        line: 4,
        message: 'spec.hostNetwrok: unknown field, ignored; did you mean "hostNetwork"?',
      },
    ],
  );
});

test('a burst of events is one reading, and only what was touched or changed is read', async () => {
  const { files, clock } = await world({ '/m/a.yaml': manifest('a'), '/m/b.yaml': manifest('b') });
  files.calls.length = 0;
  for (let index = 0; index < 50; index++) files.emit('/m/a.yaml');
  await clock.advance(10);
  assert.equal(files.count('readdir /m'), 1);
  assert.equal(files.count('read /m/a.yaml'), 1);
  assert.equal(files.count('read /m/b.yaml'), 0);
});

test('idle, it only lists the folder at the interval and reads nothing', async () => {
  const { files, clock } = await world({ '/m/a.yaml': manifest('a') });
  files.calls.length = 0;
  assert.equal(clock.pending(), 1);
  await clock.advance(60_000);
  assert.equal(files.count('readdir /m'), 3);
  assert.equal(files.count('read /m/a.yaml'), 0);
});

test('a lost event costs the interval, not the pod', async () => {
  const { files, clock, sets } = await world({ '/m/a.yaml': manifest('a') });
  files.watchers.clear();
  files.put('/m/a.yaml', manifest('bb'));
  await clock.advance(19_000);
  assert.deepEqual(sets, ['a']);
  await clock.advance(1_000);
  assert.deepEqual(sets, ['a', 'bb']);
});

test('a folder that cannot be listed keeps the pods; with one that never could be nothing is published', async () => {
  const { files, clock, sets, log } = await world({ '/m/a.yaml': manifest('a') });
  files.broken.set('readdir /m', 'disk is ill');
  files.remove('/m/a.yaml');
  await clock.advance(1_000);
  assert.deepEqual(sets, ['a']);
  assert.deepEqual(errorsOf(log), ['disk is ill']);
  files.broken.clear();
  await clock.advance(20_000);
  assert.deepEqual(sets, ['a', '']);

  const ill = await world({}, (faulty) => faulty.broken.set('readdir /m', 'disk is ill'));
  assert.deepEqual(ill.sets, []);
});

test('a file that cannot be read keeps its pods, is reported once, and is tried again', async () => {
  const { files, clock, sets, log } = await world({ '/m/a.yaml': manifest('a'), '/m/b.yaml': manifest('b') });
  files.broken.set('read /m/a.yaml', 'bad sector');
  files.emit('/m/a.yaml');
  await clock.advance(45_000);
  assert.deepEqual(sets, ['a b']);
  assert.deepEqual(errorsOf(log), ['/m/a.yaml: bad sector']);
  files.broken.clear();
  files.texts.set('/m/a.yaml', manifest('a2'));
  await clock.advance(20_000);
  assert.deepEqual(sets, ['a b', 'a2 b']);
});

test('an entry that cannot be asked about harms no other', async () => {
  const { clock, sets, log } = await world({ '/m/a.yaml': manifest('a'), '/m/b.yaml': manifest('b') }, (files) => {
    files.broken.set('stat /m/a.yaml', 'loop of links');
    files.broken.set('read /m/a.yaml', 'loop of links');
  });
  assert.deepEqual(sets, ['b']);
  await clock.advance(500);
  assert.deepEqual(errorsOf(log), ['/m/a.yaml: loop of links']);
});

test('without watches it works by polling, and logs that once', async () => {
  const { files, clock, sets, log } = await world({}, (faulty) => faulty.broken.set('watch /m', 'no more watches'));
  files.texts.set('/m/a.yaml', manifest('a'));
  await clock.advance(20_000);
  assert.deepEqual(sets, ['', 'a']);
  await clock.advance(60_000);
  assert.deepEqual(errorsOf(log), ['no more watches']);
});

test('files too large or not text are refused', async () => {
  const huge = `# ${'x'.repeat(10 * 1024 * 1024)}\n${manifest('a')}`;
  const { files, clock, log, sets } = await world({ '/m/a.yaml': huge });
  await clock.advance(500);
  assert.deepEqual(sets, ['']);
  assert.equal(files.count('read /m/a.yaml'), 0);
  assert.match(errorsOf(log)[0] ?? '', /more than 10485760/);
});

test('the moment first seen is the time of reading', async () => {
  const { pods } = await world({ '/m/a.yaml': manifest('a') });
  assert.equal(pods()[0]?.metadata.annotations?.['kubernetes.io/config.seen'], '2025-01-01T00:00:00Z');
});

test('a taker that throws stops nothing', async () => {
  const files = new ManifestFolder();
  const clock = new FakeClock();
  const log = new MemoryLog();
  let calls = 0;
  const source = new FileSource({
    preventApiReferences: true,
    allowFolderObjects: false,
    rules: defaultPodRules,
    onObjects: () => undefined,
    clock,
    log,
    files,
    path: '/m',
    nodeName: 'node',
    fileCheckFrequencyMs: 20_000,
    onSet: () => {
      calls++;
      throw new Error('no');
    },
  });
  await source.start(new AbortController().signal);
  files.put('/m/a.yaml', manifest('a'));
  await clock.advance(10);
  assert.equal(calls, 2);
  assert.deepEqual(log.messages('error'), [
    'The set of static pods was not taken',
    'The set of static pods was not taken',
  ]);
});
