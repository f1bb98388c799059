import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { seededRandom } from '../testing/seeded-random.ts';
import { atomicWrite } from './atomic-write.ts';

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'tubelet-write-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('writes and replaces with the mode asked for, whatever the umask', async (context) => {
  const root = folder(context);
  const path = join(root, 'state');
  const random = seededRandom(1);
  const umask = process.umask(0o077);
  try {
    await atomicWrite(path, 'one', { mode: 0o644, random });
  } finally {
    process.umask(umask);
  }
  assert.equal(statSync(path).mode & 0o777, 0o644);
  await atomicWrite(path, Buffer.from('two'), { mode: 0o600, random });
  assert.equal(readFileSync(path, 'utf8'), 'two');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(root), ['state']);
});

test('a write that fails leaves the old content and nothing beside it', async (context) => {
  const root = folder(context);
  const target = join(root, 'target');
  mkdirSync(target);
  writeFileSync(join(target, 'inside'), 'x');
  await assert.rejects(atomicWrite(target, 'x', { mode: 0o600, random: seededRandom(1) }), { code: 'EISDIR' });
  assert.deepEqual(readdirSync(root), ['target']);
  await assert.rejects(atomicWrite(join(root, 'no/file'), 'x', { mode: 0o600, random: seededRandom(1) }), {
    code: 'ENOENT',
  });
});

test('a name that is taken is not written over', async (context) => {
  const root = folder(context);
  const taken = `.state.${seededRandom(5).hex(6)}.tmp`;
  writeFileSync(join(root, taken), 'of somebody else');
  await assert.rejects(atomicWrite(join(root, 'state'), 'x', { mode: 0o600, random: seededRandom(5) }), {
    code: 'EEXIST',
  });
  assert.equal(readFileSync(join(root, taken), 'utf8'), 'of somebody else');
});
