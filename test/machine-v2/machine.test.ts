import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Machine } from '../../tools/lib/machine-v2/machine.mjs';
import { startOf } from '../../tools/lib/machine-v2/processes.mjs';
import { makeRunFolder } from '../../tools/lib/machine-v2/run-folder.mjs';
import { until } from '../support/real-wait.ts';

const root = process.cwd();

describe('a machine', () => {
  let machine: Machine;
  before(async () => {
    machine = await Machine.boot({ root });
  });
  after(() => machine?.close());

  test('brings back what commands say and how they end', async () => {
    const script = 'echo "$GREETING"; echo trouble >&2; pwd; exit 7';
    const end = await machine.run(['sh', '-c', script], { env: { GREETING: 'hello' }, cwd: '/usr' });
    assert.deepEqual(end, { code: 7, signal: null, stdout: 'hello\n/usr\n', stderr: 'trouble\n' });
    await assert.rejects(machine.sh('echo why >&2; false'), /ended with 1: why/);
    await assert.rejects(machine.run(['no-such-program']), /no-such-program.*ENOENT/);
  });

  test('runs commands beside each other, and tells what they say at once', async () => {
    const heard: string[] = [];
    const slow = machine.run(['sh', '-c', 'echo begun; while [ ! -e /tmp/go ]; do sleep 0.1; done; echo done'], {
      heard: (_, text) => void heard.push(text),
    });
    await until('the first has begun', () => heard.join('') === 'begun\n');
    await machine.sh('touch /tmp/go');
    assert.equal((await slow).stdout, 'begun\ndone\n');
  });

  test('ends a command that takes too long, with its children', async () => {
    const script = 'trap "" TERM; sleep 3600 & echo $!; wait; sleep 3600';
    await assert.rejects(machine.run(['sh', '-c', script], { timeoutMs: 1_000 }), /took longer than 1000 ms\n\d+/);
    assert.equal(await machine.sh('pgrep -xc sleep || true'), '0\n');
  });

  test('keeps its disk over a reboot, after which it is off when it is told to', async () => {
    const before = machine.bootId;
    const lost = assert.rejects(
      machine.run(['sleep', '3600'], { timeoutMs: 3_600_000 }),
      /the machine went down|SIGTERM/,
    );
    await machine.sh('echo kept > /root/note; sync');
    await machine.reboot();
    await lost;
    assert.notEqual(machine.bootId, before);
    assert.equal(await machine.sh('cat /root/note'), 'kept\n');
    await machine.powerOff();
    assert.equal(machine.running, false);
    await assert.rejects(machine.run(['true']), /the machine is off/);
  });
});

describe('a machine whose owner is killed', () => {
  const folders = (): readonly string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith('tubelet-machine-v2-'));

  /** Processes that a process started, as long as they live. */
  const childrenOf = (parent: number): readonly number[] =>
    readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && parentOf(pid) === parent);

  test('ends with it, and the next one clears its folder away', async () => {
    const owner = spawn(process.execPath, ['tools/machine-v2.mjs', 'run', '--', 'sleep', '3600'], { stdio: 'ignore' });
    interface Owner {
      readonly pid: number;
      readonly machines: readonly { readonly pid: number }[];
    }
    const { folder, pid } = await until('it boots', () => {
      for (const name of folders()) {
        const file = join(tmpdir(), name, 'owner.json');
        if (!existsSync(file)) continue;
        const { pid, machines } = JSON.parse(readFileSync(file, 'utf8')) as Owner;
        if (pid === owner.pid && machines[0] !== undefined) return { folder: name, pid: machines[0].pid };
      }
      return undefined;
    });
    const kernel = await until('its kernel runs', () => childrenOf(pid)[0]);
    owner.kill('SIGKILL');
    await until('its processes are gone', () => startOf(pid) === undefined && startOf(kernel) === undefined);
    assert.ok(folders().includes(folder));
    const next = makeRunFolder();
    assert.ok(!folders().includes(folder));
    rmSync(next, { recursive: true });
  });
});

function parentOf(pid: number): number | undefined {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return undefined;
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(path, 'utf8'))?.[1]);
}
