import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { emptyJournal, JournalKeeper, readJournal, recordedProcesses } from './journal.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'tubelet-journal-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));
const no = (): boolean => false;
const yes = (): boolean => true;

test('updates are on disk, complete and in order', async () => {
  const path = join(folder, 'state.json');
  const keeper = new JournalKeeper(path, emptyJournal('boot'));
  await Promise.all([
    keeper.update((journal) => ({ ...journal, subnet: '10.64.0.0/24' })),
    keeper.update((journal) => ({ ...journal, processes: { agent: { pid: 7, startTime: '70' } } })),
  ]);
  assert.deepEqual(await readJournal(path, no), keeper.journal);
  assert.equal(keeper.journal.subnet, '10.64.0.0/24');
  assert.deepEqual(readdirSync(folder), ['state.json']);
});

test('no file, a spoilt file, and a file of another version', async () => {
  assert.equal(await readJournal(join(folder, 'none'), yes), undefined);
  const spoilt = join(folder, 'spoilt');
  for (const text of ['', '{"version":', '[]', 'null', '{"name":"other"}']) {
    writeFileSync(spoilt, text);
    assert.equal(await readJournal(spoilt, no), undefined, text);
    // Host port chains of unknown origin stay.
    assert.equal((await readJournal(spoilt, yes))?.foreignHostPorts, true, text);
  }
  writeFileSync(spoilt, '{"version":2,"bootId":"b"}');
  await assert.rejects(readJournal(spoilt, yes), /another version/);
});

test('a reboot ends every process', () => {
  const journal = { ...emptyJournal('one'), processes: { agent: { pid: 7, startTime: '70' } } };
  assert.equal(recordedProcesses(journal, 'one').length, 1);
  assert.deepEqual(recordedProcesses(journal, 'two'), []);
});
