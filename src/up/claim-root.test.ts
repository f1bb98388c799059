import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { canonicalRoot, claimRoot, classifyRoot, livingOwner } from './claim-root.ts';
import { emptyJournal, type Journal } from './journal.ts';
import { identityOf, readBootId } from './process-table.ts';

let folder: string;
before(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tubelet-claim-')));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const journal = emptyJournal('boot');
const owner = { pid: 7, startTime: '70' };
const cases: readonly { name: string; contents: string[]; journal?: Journal; owner?: typeof owner; want: string }[] = [
  { name: 'nothing there', contents: [], want: 'fresh' },
  { name: 'manifests of an earlier instance', contents: ['manifests'], want: 'fresh' },
  { name: 'cut off before the journal was whole', contents: ['state.json.new'], want: 'fresh' },
  { name: 'files of a user', contents: ['manifests', 'thesis.tex'], want: 'foreign' },
  { name: 'left behind', contents: ['state.json', 'containerd'], journal, want: 'abandoned' },
  { name: 'running', contents: ['state.json', 'containerd'], journal, owner, want: 'taken' },
];
for (const { name, contents, journal: found, owner: living, want } of cases) {
  test(`classifyRoot: ${name}`, () => assert.equal(classifyRoot(contents, found, living).kind, want));
}

test('an owner lives when number, start time and boot agree', () => {
  const bootId = readBootId();
  const self = identityOf(process.pid)!;
  assert.deepEqual(livingOwner({ ...emptyJournal(bootId), owner: self }, bootId), self);
  assert.equal(livingOwner({ ...emptyJournal(bootId), owner: { ...self, startTime: '1' } }, bootId), undefined);
  assert.equal(livingOwner({ ...emptyJournal('other'), owner: self }, bootId), undefined);
  assert.equal(livingOwner(undefined, bootId), undefined);
});

test('a root has one spelling, whether it is there yet or not', () => {
  mkdirSync(join(folder, 'real'));
  symlinkSync(join(folder, 'real'), join(folder, 'link'));
  assert.equal(canonicalRoot(join(folder, 'link')), join(folder, 'real'));
  assert.equal(canonicalRoot(`${folder}/link/new/../deeper/x/`), join(folder, 'real/deeper/x'));
});

test('the second claim of a root fails with its owner; a folder of another program keeps its files', async () => {
  const root = join(folder, 'claimed');
  const first = await claimRoot(root, true);
  assert.equal(first.abandoned, false);
  await assert.rejects(claimRoot(root, true), new RegExp(`already running in .* \\(process ${process.pid}\\)`));
  await first.keeper.update((before) => ({ ...before, owner: undefined }));
  assert.equal((await claimRoot(root, true)).abandoned, true);
  const foreign = join(folder, 'foreign');
  mkdirSync(foreign);
  writeFileSync(join(foreign, 'thesis.tex'), 'x');
  await assert.rejects(claimRoot(foreign, true), /thesis\.tex/);
  assert.deepEqual(readdirSync(foreign), ['thesis.tex']);
});
