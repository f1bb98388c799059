import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPodRules } from '../../model/validation/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { ManifestFolder } from '../../testing/manifest-folder.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { FileSource } from './file-source.ts';

const pod = (name: string): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: i, envFrom: [{configMapRef: {name: m}}]}]}\n`;
const map = (name: string, value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {k: ${value}}\n`;

interface World {
  readonly files: ManifestFolder;
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  /** What was published, in order. */
  readonly published: string[];
}

async function world(texts: Readonly<Record<string, string>>, allowFolderObjects = true): Promise<World> {
  const files = new ManifestFolder();
  for (const [path, text] of Object.entries(texts)) files.texts.set(path, text);
  const clock = new FakeClock();
  const log = new MemoryLog();
  const published: string[] = [];
  const source = new FileSource({
    preventApiReferences: true,
    rules: defaultPodRules,
    clock,
    log,
    files,
    path: '/m',
    nodeName: 'node',
    fileCheckFrequencyMs: 20_000,
    allowFolderObjects,
    onObjects: (objects) =>
      published.push(`objects ${objects.map((one) => `${one.name}=${one.object.data?.['k']}`).join(' ')}`),
    onSet: (_source, pods) => published.push(`pods ${pods.map((one) => one.name).join(' ')}`),
  });
  await source.start(new AbortController().signal);
  return { files, clock, log, published };
}

test('objects are published before the pods that may need them, and each by itself when it changes', async () => {
  const { files, clock, published } = await world({ '/m/a.yaml': pod('a'), '/m/m.yaml': map('m', 'one') });
  assert.deepEqual(published, ['objects m=one', 'pods a-node']);
  published.length = 0;
  files.put('/m/m.yaml', map('m', 'two'));
  await clock.advance(5);
  assert.deepEqual(published, ['objects m=two'], 'the pod is the same pod');
  files.put('/m/b.yaml', pod('b'));
  await clock.advance(5);
  files.remove('/m/m.yaml');
  await clock.advance(5);
  assert.deepEqual(published, ['objects m=two', 'pods a-node b-node', 'objects ']);
});

test('a file whose text became faulty keeps its objects', async () => {
  const { files, clock, published, log } = await world({ '/m/m.yaml': `${map('m', 'one')}---\n${map('o', 'one')}` });
  files.put('/m/m.yaml', `${map('m', 'two')}---\n${map('o', '"')}`);
  await clock.advance(1_000);
  assert.deepEqual(published, ['objects m=one o=one', 'pods ']);
  assert.deepEqual(log.messages('warn'), ['Keeping the objects of the last good manifest']);
  files.put('/m/m.yaml', `${map('m', 'two')}---\n${map('o', '5')}`);
  await clock.advance(1_000);
  assert.equal(log.messages('error').length, 2);
  // The number is no text, so o stays as it was; m is sound.
  assert.equal(published.at(-1), 'objects m=two o=one');
});

test('with an API server neither objects nor references to them are taken', async () => {
  const { published, log, clock } = await world({ '/m/a.yaml': pod('a'), '/m/m.yaml': map('m', 'one') }, false);
  await clock.advance(1_000);
  assert.deepEqual(published, ['pods ']);
  const errors = log.entries
    .filter(({ severity }) => severity === 'error')
    .map(({ error }) => (error as Error).message);
  assert.equal(errors[0], '/m/a.yaml:1: pod a: static pods may not reference configmaps');
  assert.match(errors[1] ?? '', /^\/m\/m\.yaml:2: kind: Unsupported value: "ConfigMap"/);
});
