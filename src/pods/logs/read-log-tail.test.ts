import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { nodeLogFiles } from '../../host/index.ts';
import type { TailLimits } from '../../model/termination-message.ts';
import { readLogTail } from './read-log-tail.ts';

const limits = { lines: 80, bytes: 2_048 };
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tubelet-tail-'));
  path = join(folder, '0.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

function line(text: string, how: { readonly partial?: boolean; readonly stream?: 'stderr' } = {}): Buffer {
  const { partial = false, stream = 'stdout' } = how;
  return Buffer.from(`2026-01-01T00:00:00.000000000Z ${stream} ${partial ? 'P' : 'F'} ${text}\n`);
}
const lines = (from: number, to: number): Buffer =>
  Buffer.concat(Array.from({ length: to - from }, (_, index) => line(`line ${from + index}`)));
const texts = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}\n`).join('');
const tail = async (more: Partial<TailLimits> = {}): Promise<string> =>
  (await readLogTail(path, { ...limits, ...more }, nodeLogFiles)).toString();

describe('the end of a log', () => {
  test('is all of a short one, both streams in order, without prefixes', async () => {
    writeFileSync(path, Buffer.concat([line('one'), line('two', { stream: 'stderr' }), line(''), line('three')]));
    assert.equal(await tail(), 'one\ntwo\n\nthree\n');
  });

  test('is the last lines of a long one, over many blocks', async () => {
    writeFileSync(path, lines(0, 20_000));
    assert.equal(await tail(), texts(19_920, 20_000));
    assert.equal(await tail({ lines: 15_000, bytes: 10_000_000 }), texts(5_000, 20_000));
  });

  test('is the last bytes where lines are long', async () => {
    writeFileSync(path, Buffer.concat([line('before'), line('x'.repeat(16_000)), line('end')]));
    assert.equal(await tail(), `${'x'.repeat(2_048 - 5)}\nend\n`);
  });

  test('joins partial lines', async () => {
    writeFileSync(path, Buffer.concat([line('a long', { partial: true }), line(' way')]));
    assert.equal(await tail(), 'a long way\n');
  });

  test('is the end of a line that has hardly a beginning', async () => {
    writeFileSync(path, line('y'.repeat(3 * 1024 * 1024)));
    assert.equal(await tail(), 'y'.repeat(2_048));
  });

  test('leaves out what is no log line, and one that is being written', async () => {
    writeFileSync(path, Buffer.concat([line('good'), Buffer.from('bad\n\n'), line('also good')]));
    appendFileSync(path, '2026-01-01T00:0');
    assert.equal(await tail(), 'good\nalso good\n');
  });

  test('is empty where there is nothing', async () => {
    assert.equal(await tail(), '');
    writeFileSync(path, '');
    assert.equal(await tail(), '');
    path = join(folder, 'nowhere', '0.log');
    assert.equal(await tail(), '');
  });
});

describe('a log that was rotated', () => {
  test('is read back through its files, compressed or not, and no other log', async () => {
    writeFileSync(`${path}.20260101-000001.gz`, gzipSync(lines(0, 30)));
    writeFileSync(`${path}.20260101-000002`, lines(30, 60));
    writeFileSync(`${path}.20260101-000002.tmp`, 'half of it');
    writeFileSync(join(folder, '1.log'), line('of another'));
    writeFileSync(path, lines(60, 90));
    assert.equal(await tail(), texts(10, 90));
  });

  test('is read once where a file is there in both forms', async () => {
    writeFileSync(`${path}.20260101-000001`, lines(0, 2));
    writeFileSync(`${path}.20260101-000001.gz`, gzipSync(lines(0, 2)));
    writeFileSync(path, lines(2, 3));
    assert.equal(await tail(), texts(0, 3));
  });

  test('is found in the compressed form when that comes meanwhile', async () => {
    writeFileSync(`${path}.20260101-000001.gz`, gzipSync(lines(0, 3)));
    const found = await readLogTail(path, limits, { ...nodeLogFiles, list: async () => ['0.log.20260101-000001'] });
    assert.equal(found.toString(), texts(0, 3));
  });

  test('keeps only the end of a compressed file in memory', async () => {
    writeFileSync(`${path}.20260101-000001.gz`, gzipSync(lines(0, 100_000)));
    assert.equal(await tail(), texts(99_920, 100_000));
  });
});

test('a link in the place of a log is not followed', async () => {
  writeFileSync(join(folder, 'secret'), line('secret'));
  symlinkSync(join(folder, 'secret'), path);
  assert.equal(await tail(), '');
  symlinkSync(join(folder, 'secret'), `${path}.20260101-000001`);
  assert.equal(await tail(), '');
  await assert.rejects(nodeLogFiles.read(path, 0, 10), { kind: 'denied' });
});
