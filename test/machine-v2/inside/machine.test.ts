import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

/** What every other test in here counts on. */
const run = (program: string, ...words: readonly string[]): string =>
  execFileSync(program, words, { encoding: 'utf8' }).trim();

test('the machine has cgroup v2 alone, with the controllers that its kernel has', () => {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const kinds = mounts.map((line) => line.split(' - ')[1]?.split(' ')[0]).filter((kind) => kind?.startsWith('cgroup'));
  assert.deepEqual(kinds, ['cgroup2']);
  assert.equal(readFileSync('/sys/fs/cgroup/cgroup.controllers', 'utf8'), 'cpu io memory pids\n');
});

test('systemd is at work and nothing has failed', () => {
  assert.equal(run('systemctl', 'is-system-running', '--wait'), 'running');
  assert.match(run('systemctl', '--version'), /^systemd 252 /);
});

test('systemd and logind answer on the system bus', () => {
  const ask = (name: string, path: string, type: string, property: string): string =>
    run('busctl', 'get-property', name, path, type, property);
  const manager = [
    'org.freedesktop.systemd1',
    '/org/freedesktop/systemd1',
    'org.freedesktop.systemd1.Manager',
  ] as const;
  assert.match(ask(...manager, 'Version'), /^s "252/);
  const login = ['org.freedesktop.login1', '/org/freedesktop/login1', 'org.freedesktop.login1.Manager'] as const;
  assert.equal(ask(...login, 'InhibitDelayMaxUSec'), 't 5000000');
});

test('the checkout is seen where the host has it and cannot be written to', () => {
  assert.ok(existsSync('package.json'));
  assert.ok(existsSync('node_modules/koffi/package.json'));
  assert.throws(() => writeFileSync('package.json', ''), { code: 'EROFS' });
});
