import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodUpdate } from '../../model/pod-update.ts';
import { defaultPodRules } from '../../model/validation/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { ManifestFolder } from '../../testing/manifest-folder.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { FileSource } from './file-source.ts';
import { PodSources } from './merge-sources.ts';

const manifest = (image: string, metadata = 'name: web'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata: {${metadata}}\nspec: {containers: [{name: c, image: ${image}}]}\n`;

interface World {
  readonly clock: FakeClock;
  /** Writes the one manifest and answers what that changed. */
  readonly edit: (text: string) => Promise<readonly PodUpdate[]>;
  readonly first: readonly PodUpdate[];
}

/** The file source and the merge behind it, as they are wired. */
async function world(text: string): Promise<World> {
  const files = new ManifestFolder();
  files.texts.set('/m/web.yaml', text);
  const clock = new FakeClock();
  const log = new MemoryLog();
  let updates: PodUpdate[] = [];
  const sources = new PodSources({
    recordDuplicate: () => undefined,
    clock,
    log,
    configured: ['file'],
    onUpdate: (update) => updates.push(update),
  });
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
    onSet: (name, pods) => sources.set(name, pods),
  });
  await source.start(new AbortController().signal);
  const first = updates;
  const edit = async (next: string): Promise<readonly PodUpdate[]> => {
    updates = [];
    files.put('/m/web.yaml', next);
    await clock.advance(1_000);
    return updates;
  };
  return { clock, edit, first };
}

const imageOf = (update: PodUpdate | undefined): string | undefined => update?.pods[0]?.spec.containers[0]?.image;
const opsOf = (updates: readonly PodUpdate[]): string[] => updates.map(({ op }) => op);

test('a static pod edited in place is another pod of the same name: the old one goes first', async () => {
  const { edit, first } = await world(manifest('one'));
  const [added] = first;
  const updates = await edit(manifest('two'));
  assert.deepEqual(opsOf(updates), ['remove', 'add']);
  const [removed, replacement] = updates;
  assert.equal(removed?.pods[0], added?.pods[0]);
  assert.equal(imageOf(replacement), 'two');
  assert.equal(replacement?.pods[0]?.fullName, added?.pods[0]?.fullName);
  assert.notEqual(replacement?.pods[0]?.uid, added?.pods[0]?.uid);
});

test('written again unchanged, nothing happens; taken back after an edit, the first pod comes again', async () => {
  const { edit, first } = await world(manifest('one'));
  assert.deepEqual(await edit(manifest('one')), []);
  await edit(manifest('two'));
  const back = await edit(manifest('one'));
  assert.deepEqual(opsOf(back), ['remove', 'add']);
  assert.equal(back[1]?.pods[0]?.uid, first[0]?.pods[0]?.uid);
});

test('comments, order and spelled-out defaults change nothing', async () => {
  const { edit } = await world(manifest('one'));
  const same = `# ours\nspec: {restartPolicy: Always, containers: [{image: one, name: c}]}\nmetadata: {name: web}\nkind: Pod\napiVersion: v1\n`;
  assert.deepEqual(await edit(same), []);
});

test('with a uid of its own the pod stays that pod, and an edit is an update', async () => {
  const { edit, first, clock } = await world(manifest('one', 'name: web, uid: mine'));
  const seen = first[0]?.pods[0]?.metadata.annotations?.['kubernetes.io/config.seen'];
  await clock.advance(5_000);
  const updates = await edit(manifest('two', 'name: web, uid: mine'));
  assert.deepEqual(opsOf(updates), ['update']);
  assert.equal(imageOf(updates[0]), 'two');
  assert.equal(updates[0]?.pods[0]?.uid, 'mine');
  assert.equal(updates[0].pods[0].metadata.annotations?.['kubernetes.io/config.seen'], seen);
  const renamed = await edit(manifest('two', 'name: other, uid: mine'));
  assert.deepEqual(opsOf(renamed), ['remove', 'add']);
});
