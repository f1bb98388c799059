import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { writeTar } from './tar.ts';

const archive = writeTar([
  { kind: 'directory', path: 'bin', mode: 0o755 },
  { kind: 'directory', path: 'tmp', mode: 0o1777 },
  { kind: 'file', path: 'bin/tool', mode: 0o755, content: Buffer.from('x'.repeat(700)) },
  { kind: 'file', path: 'empty', mode: 0o600, content: Buffer.alloc(0) },
  { kind: 'symlink', path: 'bin/sh', target: '/bin/tool' },
]);

test('tar can read the archive', () => {
  const listing = execFileSync('tar', ['--numeric-owner', '--utc', '-tvf', '-'], { input: archive, encoding: 'utf8' });
  const rows = listing
    .trim()
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' '));
  assert.deepEqual(rows, [
    'drwxr-xr-x 0/0 0 1970-01-01 00:00 bin/',
    'drwxrwxrwt 0/0 0 1970-01-01 00:00 tmp/',
    '-rwxr-xr-x 0/0 700 1970-01-01 00:00 bin/tool',
    '-rw------- 0/0 0 1970-01-01 00:00 empty',
    'lrwxrwxrwx 0/0 0 1970-01-01 00:00 bin/sh -> /bin/tool',
  ]);
  const content = execFileSync('tar', ['-xOf', '-', 'bin/tool'], { input: archive, encoding: 'utf8' });
  assert.equal(content, 'x'.repeat(700));
});

test('the archive is a whole number of blocks and ends with two empty ones', () => {
  assert.equal(archive.length % 512, 0);
  assert.ok(archive.subarray(-1024).every((byte) => byte === 0));
});

test('a path that does not fit is refused, not cut', () => {
  assert.throws(() => writeTar([{ kind: 'directory', path: 'a'.repeat(100), mode: 0o755 }]), /at most 100 bytes/);
});
