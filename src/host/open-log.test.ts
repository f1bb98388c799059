import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { HostOpenLog } from './open-log.ts';

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'open-log-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test('a file is read wherever it is wanted', async () => {
  writeFileSync(join(folder, 'log'), 'content');
  const log = new HostOpenLog(await open(join(folder, 'log')), 'id');
  const buffer = Buffer.alloc(10);
  assert.equal(await log.read(buffer, 3, 2), 2);
  assert.equal(buffer.toString('utf8', 0, 2), 'te');
  assert.equal(await log.read(buffer, 7, 10), 0);
  assert.deepEqual([log.identity, await log.size()], ['id', 7]);
  await log.close();
});

test('closing waits for running reads, and no read follows it: the number may be another file by then', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  // Opened for both, so that opening does not wait for a writer but reading does.
  const log = new HostOpenLog(await open(pipe, constants.O_RDWR), 'id');
  const buffer = Buffer.alloc(10);
  // A pipe has no places in it.
  const reading = log.read(buffer, null as unknown as number, 10);
  const closing = log.close();
  let closed = false;
  void closing.then(() => (closed = true));
  await assert.rejects(log.read(buffer, 0, 10), { kind: 'cancelled' });
  assert.equal(closed, false);
  const writer = spawn('sh', ['-c', `printf word > ${pipe}`]);
  assert.equal(await reading, 4);
  await closing;
  await log.close();
  if (writer.exitCode === null) await new Promise((resolve) => writer.once('exit', resolve));
});

test('a failure is reported with its kind', async () => {
  const log = new HostOpenLog(await open(folder), 'id');
  await assert.rejects(log.read(Buffer.alloc(1), 0, 1), { name: 'TubeletError' });
  await log.close();
});
