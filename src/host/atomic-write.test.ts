import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { seededRandom } from '../testing/seeded-random.ts';
import { atomicRemove, atomicWrite } from './atomic-write.ts';

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

test('a failed write leaves the old content and no temporary file', async (context) => {
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

test('an existing temporary file is not overwritten', async (context) => {
  const root = folder(context);
  const taken = `.state.${seededRandom(5).hex(6)}.tmp`;
  writeFileSync(join(root, 'target'), 'of another program');
  symlinkSync('target', join(root, taken));
  await assert.rejects(atomicWrite(join(root, 'state'), 'x', { mode: 0o600, random: seededRandom(5) }), {
    code: 'EEXIST',
  });
  assert.equal(readFileSync(join(root, 'target'), 'utf8'), 'of another program');
});

test('files of a killed writer are removed by the next write or removal, and no others', async (context) => {
  const root = folder(context);
  const path = join(root, 'state');
  const others = ['.other.0123456789ab.tmp', '.state.0123456789ab', '.state.xyz.tmp', '.state.0123456789abc.tmp', 'x'];
  for (const name of others) writeFileSync(join(root, name), '');
  symlinkSync('x', join(root, '.state.aaaaaaaaaaaa.tmp'));
  mkdirSync(join(root, '.state.bbbbbbbbbbbb.tmp'));
  const kept = readdirSync(root);
  const left = ['.state.0123456789ab.tmp', '.state.ffffffffffff.tmp'];
  for (const name of left) writeFileSync(join(root, name), 'half');
  await atomicWrite(path, 'one', { mode: 0o600, random: seededRandom(1) });
  assert.deepEqual(readdirSync(root).toSorted(), [...kept, 'state'].toSorted());
  for (const name of left) writeFileSync(join(root, name), 'half');
  await atomicRemove(path);
  await atomicRemove(path);
  await atomicRemove(join(root, 'no/such/file'));
  assert.deepEqual(readdirSync(root).toSorted(), kept.toSorted());
});

test('writers of one file at the same time do not take each other for killed ones', async (context) => {
  const root = folder(context);
  const path = join(root, 'state');
  const random = seededRandom(1);
  await Promise.all(Array.from({ length: 20 }, (_, n) => atomicWrite(path, `${n}`, { mode: 0o600, random })));
  assert.deepEqual(readdirSync(root), ['state']);
});
