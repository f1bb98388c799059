import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { load } from 'js-yaml';
import type { Pod } from '../gen/kubernetes/types.ts';
import { emptyJournal, JournalKeeper } from './journal.ts';
import { prepareManifests, samplePodManifest } from './sample-pod.ts';
import { starterImages } from './starter-images.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tubelet-sample-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));
const keeper = (): JournalKeeper => new JournalKeeper(join(folder, 'state.json'), emptyJournal('boot'));

test('the sample shows an init container, a sidecar and a web server on one folder', () => {
  const pod = load(samplePodManifest(starterImages.busybox)) as Pod;
  const containers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
  assert.deepEqual(
    containers.map((container) => container.name),
    ['write-page', 'clock', 'web'],
  );
  assert.deepEqual(
    containers.filter((container) => container.restartPolicy === 'Always').map((container) => container.name),
    ['clock'],
  );
  for (const container of containers) {
    assert.equal(container.image, starterImages.busybox);
    assert.deepEqual(container.volumeMounts, [{ name: 'www', mountPath: '/www' }]);
    for (const word of container.command ?? []) assert.equal(typeof word, 'string');
  }
  assert.equal(pod.spec?.containers[0]?.ports?.[0]?.containerPort, 8080);
  assert.deepEqual(pod.spec?.volumes, [{ name: 'www', emptyDir: {} }]);
});

test('the sample is written into a folder without manifests, and is in the journal', async () => {
  const path = join(folder, 'new');
  const journal = keeper();
  assert.deepEqual(await prepareManifests(path, 'image', journal), { any: true, sample: join(path, 'hello.yaml') });
  assert.equal(readFileSync(join(path, 'hello.yaml'), 'utf8'), samplePodManifest('image'));
  assert.deepEqual(journal.journal.manifests, { path, made: true });
  assert.equal(journal.journal.sample?.path, join(path, 'hello.yaml'));
});

test('a folder with manifests is left as it is', async () => {
  const path = mkdtempSync(join(folder, 'full-'));
  writeFileSync(join(path, 'mine.yml'), 'x');
  const journal = keeper();
  assert.deepEqual(await prepareManifests(path, 'image', journal), { any: true });
  assert.deepEqual(readdirSync(path), ['mine.yml']);
  assert.deepEqual(journal.journal.manifests, { path, made: false });
});

test('dot files and other files are not manifests; without an image there is no sample', async () => {
  const path = mkdtempSync(join(folder, 'other-'));
  writeFileSync(join(path, '.hidden.yaml'), 'x');
  writeFileSync(join(path, 'notes.txt'), 'x');
  assert.deepEqual(await prepareManifests(path, undefined, keeper()), { any: false });
  assert.equal(existsSync(join(path, 'hello.yaml')), false);
});
