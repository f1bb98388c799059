import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { systemClock } from '../base/system-clock.ts';
import { mountPrograms } from './mount-programs.ts';
import { hostMounts } from './mounts.ts';

/** Of a machine without systemd. */
const systemdRun = '/none/systemd-run';
const clock = systemClock();
const never = new AbortController().signal;
const rootOnly = { skip: process.getuid?.() === 0 ? false : 'needs the rights of root' };

function setUp(context: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'tubelet-mount-programs-'));
  context.after(async () => {
    await hostMounts.release(root);
    rmSync(root, { recursive: true, force: true });
  });
  /** A program that replaces the real one. */
  const script = (name: string, text: string): string => {
    const path = join(root, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const seenArguments = (): string => readFileSync(join(root, 'seenArguments'), 'utf8').trim();
  return { root, script, seenArguments, environment: { PATH: process.env['PATH'] } };
}

/** The signal of a test that waits for a program to say that it runs. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise<void>((resolve) => void setImmediate(resolve));
}

describe('mount(8) and umount(8)', () => {
  test('get their words one by one, whatever is in them', async (context) => {
    const { root, script, seenArguments, environment } = setUp(context);
    const record = `printf '%s|' "$@" > ${root}/seenArguments`;
    const programs = mountPrograms({
      clock,
      systemdRun,
      environment,
      mount: script('mount', record),
      umount: script('umount', record),
    });
    await programs.mount({ fsType: 'nfs', source: 's:/a $(b)', target: '/t t', options: ['hard', 'ro'] }, never);
    assert.equal(seenArguments(), '-t|nfs|-o|hard,ro|--|s:/a $(b)|/t t|');
    await programs.mount({ fsType: 'ext4', source: '/dev/x', target: '/t', options: [] }, never);
    assert.equal(seenArguments(), '-t|ext4|--|/dev/x|/t|');
    await programs.unmount('/t', { force: false }, never);
    assert.equal(seenArguments(), '--|/t|');
    await programs.unmount('/t', { force: true }, never);
    assert.equal(seenArguments(), '-f|--|/t|');
  });

  test('the failure contains their output, in the usual form', async (context) => {
    const { script, environment } = setUp(context);
    const broken = script('broken', 'echo no such server >&2; exit 32');
    const programs = mountPrograms({ clock, systemdRun, environment, mount: broken, umount: broken });
    await assert.rejects(programs.mount({ fsType: 'nfs', source: 's:/', target: '/t', options: ['ro'] }, never), {
      message: `mount failed: exit status 32\nMounting command: ${broken}\nMounting arguments: -t nfs -o ro s:/ /t\nOutput: no such server\n`,
    });
    await assert.rejects(programs.unmount('/t', { force: false }, never), {
      message: 'unmount failed: exit status 32\nUnmounting arguments: /t\nOutput: no such server\n',
    });
    const absent = mountPrograms({ clock, systemdRun, environment, mount: '/none' });
    await assert.rejects(absent.mount({ fsType: 'nfs', source: 's:/', target: '/t', options: [] }, never), /ENOENT/);
  });

  test('leave daemons in a scope of their own where there is systemd, which is found out once', async (context) => {
    const { root, script, environment } = setUp(context);
    const said = (): readonly string[] => readFileSync(join(root, 'said'), 'utf8').trim().split('\n');
    const scopes = script(
      'run',
      `printf '%s|' "$@" >> ${root}/said; echo >> ${root}/said; while [ "$1" != -- ] && [ $# -gt 1 ]; do shift; done; [ "$1" = -- ] && shift; exec "$@"`,
    );
    const mount = script('mount', `[ "$2" != none ] || { echo no such type; exit 32; }`);
    const programs = mountPrograms({ clock, systemdRun: scopes, environment, mount });
    await programs.mount({ fsType: 'ext4', source: '/dev/x', target: '/t t', options: [] }, never);
    const broken = programs.mount({ fsType: 'none', source: 's', target: '/t', options: [] }, never);
    await assert.rejects(broken, {
      message: `mount failed: exit status 32\nMounting command: ${scopes}\nMounting arguments: --description=Kubernetes transient mount for /t --scope -- ${mount} -t none s /t\nOutput: no such type\n`,
    });
    assert.deepEqual(said(), [
      '--description=Kubernetes systemd probe|--scope|true|',
      `--description=Kubernetes transient mount for /t t|--scope|--|${mount}|-t|ext4|--|/dev/x|/t t|`,
      `--description=Kubernetes transient mount for /t|--scope|--|${mount}|-t|none|--|s|/t|`,
    ]);
  });

  test('a hung program is killed with its helper, and the mount has ended then', async (context) => {
    const { root, script, seenArguments, environment } = setUp(context);
    // The helper is a process of its own and would mount later.
    const hang = script('hang', `sleep 1000 & echo $! > ${root}/seenArguments; wait`);
    const programs = mountPrograms({ clock, systemdRun, environment, mount: hang, umount: hang });
    const spec = { fsType: 'nfs', source: 's:/', target: '/t', options: [] };
    for (const start of [
      (signal: AbortSignal) => programs.mount(spec, signal),
      (signal: AbortSignal) => programs.unmount('/t', { force: false }, signal),
    ]) {
      rmSync(join(root, 'seenArguments'), { force: true });
      const gaveUp = new AbortController();
      const outcome = assert.rejects(start(gaveUp.signal), /enough/);
      await until(() => existsSync(join(root, 'seenArguments')) && seenArguments() !== '');
      gaveUp.abort(new Error('enough'));
      await outcome;
      await until(() => !isRunning(seenArguments()));
    }
    const aborted = new AbortController();
    aborted.abort(new Error('enough'));
    await assert.rejects(programs.mount(spec, aborted.signal), /enough/);
  });

  test('umount is not run again for a mount point where a killed one has not ended', async (context) => {
    const { root, script, seenArguments, environment } = setUp(context);
    // Its helper keeps the output open, as one that cannot be killed does.
    const hang = script('hang', `setsid sh -c 'echo $$ >> ${root}/seenArguments; exec sleep 1000' & wait`);
    const programs = mountPrograms({ clock, systemdRun, environment, umount: hang });
    const gaveUp = new AbortController();
    const first = assert.rejects(programs.unmount('/t', { force: false }, gaveUp.signal), /enough/);
    await until(() => existsSync(join(root, 'seenArguments')) && seenArguments() !== '');
    gaveUp.abort(new Error('enough'));
    await first;
    for (let tries = 0; tries < 3; tries++) {
      await assert.rejects(programs.unmount('/t', { force: false }, never), {
        kind: 'unavailable',
        message: 'unmount failed: an earlier umount of /t has not ended',
      });
    }
    assert.equal(seenArguments().split('\n').length, 1);
    process.kill(Number(seenArguments()), 'SIGKILL');
    const again = new AbortController();
    let tries: Promise<unknown> = Promise.resolve();
    await until(() => {
      tries = programs.unmount('/t', { force: false }, again.signal).catch((error: unknown) => error);
      return seenArguments().split('\n').length > 1;
    });
    process.kill(Number(seenArguments().split('\n')[1]), 'SIGKILL');
    again.abort(new Error('enough'));
    await tries;
  });

  test('really mount and unmount', rootOnly, async (context) => {
    const { root, environment } = setUp(context);
    const programs = mountPrograms({ clock, systemdRun, environment });
    const target = join(root, 'a b');
    mkdirSync(target);
    await programs.mount({ fsType: 'tmpfs', source: 'tmpfs', target, options: ['size=64k', 'noexec'] }, never);
    assert.deepEqual(await hostMounts.atOrBelow(root), [target]);
    await programs.unmount(target, { force: false }, never);
    assert.deepEqual(await hostMounts.atOrBelow(root), []);
    await assert.rejects(programs.unmount(target, { force: false }, never), /not mounted/);
  });
});

/** A process that was killed may wait for its parent to reap it. */
function isRunning(pid: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
