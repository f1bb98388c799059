import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { isKind } from '../base/errors.ts';
import { socketFiles } from './socket-files.ts';

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'tubelet-sockets-'));
  context.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** Closing a server removes its socket, as an end by force does not: it is listened at under another name. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(`${path}.first`, () => resolve()));
  renameSync(`${path}.first`, path);
  await new Promise((resolve) => void server.close(resolve));
}

test('a socket that was left behind is removed', async (context) => {
  const path = join(folder(context), 'a.sock');
  await leaveSocket(path);
  assert.ok(statSync(path).isSocket());
  assert.equal(await socketFiles.removeSocket(path), true);
  assert.equal(existsSync(path), false);
  assert.equal(await socketFiles.removeSocket(path), true, 'and a missing one is no error');
});

test('a file that is not a socket stays', async (context) => {
  const path = join(folder(context), 'file');
  writeFileSync(path, 'mine');
  assert.equal(await socketFiles.removeSocket(path), false);
  assert.equal(readFileSync(path, 'utf8'), 'mine');
});

test('a file of any kind is removed, and a missing one is no error', async (context) => {
  const path = join(folder(context), 'file');
  writeFileSync(path, '');
  await socketFiles.removeFile(path);
  assert.equal(existsSync(path), false);
  await socketFiles.removeFile(path);
});

test('a folder is made with those above it, and a mode is set exactly', async (context) => {
  const path = join(folder(context), 'a/b');
  await socketFiles.makeFolder(path, 0o750);
  await socketFiles.makeFolder(path, 0o700);
  assert.equal(statSync(path).mode & 0o777, 0o750, 'a folder that is there keeps its mode');
  await socketFiles.setMode(path, 0o711);
  assert.equal(statSync(path).mode & 0o777, 0o711);
});

test('failures have their kind', async (context) => {
  const path = join(folder(context), 'nothing');
  await assert.rejects(socketFiles.setMode(path, 0o600), (error) => isKind(error, 'notFound'));
});
