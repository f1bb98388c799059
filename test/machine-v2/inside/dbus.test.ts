import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { noCalls } from '../../../src/base/calls.ts';
import { systemClock } from '../../../src/base/system-clock.ts';
import { systemdHost } from '../../../src/main/agent/systemd-host.ts';
import type { UnitProperty } from '../../../src/model/systemd-units.ts';
import { MemoryLog } from '../../../src/testing/memory-log.ts';
import { until } from '../../support/real-wait.ts';

const clock = systemClock();
const log = new MemoryLog();
const { units, logind, component } = systemdHost({ clock, log, calls: noCalls }, {}) ?? assert.fail('no systemd');
const parent = 'tubelettestdbus.slice';
after(async () => {
  await units.stopUnit(parent);
  await component.stop();
});

/** Loops and timers of a test that waits for a program go on meanwhile. */
const run = async (program: string, ...words: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, words)).stdout.trim();
const shown = async (unit: string, ...names: readonly string[]): Promise<string> =>
  (await run('systemctl', 'show', unit, `--property=${names.join()}`)).split('\n').sort().join(' ');
const inCgroup = (unit: string, file: string): string =>
  readFileSync(`/sys/fs/cgroup/${parent}/${unit}/${file}`, 'utf8').trim();

const truth = (name: string, value: boolean): UnitProperty => ({ name, value: { type: 'b', value } });
const number = (name: string, value: bigint): UnitProperty => ({ name, value: { type: 't', value } });
const sliceProperties = (unit: string): readonly UnitProperty[] => [
  { name: 'Description', value: { type: 's', value: `libcontainer container ${unit}` } },
  { name: 'Wants', value: { type: 'as', value: [parent] } },
  truth('MemoryAccounting', true),
  truth('CPUAccounting', true),
  truth('IOAccounting', true),
  truth('TasksAccounting', true),
  truth('DefaultDependencies', false),
];

test('the version is that of the running systemd', async () => {
  const first = /^systemd (\d+)/.exec(await run('systemctl', '--version'))?.[1];
  assert.equal(await units.version(), Number(first));
});

test('a slice is made with its properties, changed in place, and gone when it is stopped', async () => {
  const unit = 'tubelettestdbus-a.slice';
  assert.equal(await units.startTransientUnit(unit, [...sliceProperties(unit), number('TasksMax', 7n)]), 'started');
  assert.equal(
    await shown(unit, 'ActiveState', 'Description', 'Transient', 'Wants', 'MemoryAccounting', 'DefaultDependencies'),
    `ActiveState=active DefaultDependencies=no Description=libcontainer container ${unit} MemoryAccounting=yes Transient=yes Wants=${parent}`,
  );
  assert.equal(inCgroup(unit, 'pids.max'), '7');
  const unlimited = (1n << 64n) - 1n;
  await units.setUnitProperties(unit, [
    number('MemoryMax', 64n << 20n),
    number('CPUWeight', 77n),
    number('CPUQuotaPeriodUSec', 100_000n),
    number('CPUQuotaPerSecUSec', 130_000n),
    number('TasksMax', unlimited),
    { name: 'AllowedCPUs', value: { type: 'ay', value: new Uint8Array([1]) } },
  ]);
  assert.equal(
    await shown(unit, 'MemoryMax', 'CPUWeight', 'CPUQuotaPerSecUSec', 'TasksMax', 'AllowedCPUs'),
    'AllowedCPUs=0 CPUQuotaPerSecUSec=130ms CPUWeight=77 MemoryMax=67108864 TasksMax=infinity',
  );
  const files = ['memory.max', 'cpu.weight', 'cpu.max', 'pids.max'].map((file) => inCgroup(unit, file));
  assert.deepEqual(files, ['67108864', '77', '13000 100000', 'max']);
  assert.equal(await units.startTransientUnit(unit, sliceProperties(unit)), 'existed');
  assert.equal(inCgroup(unit, 'cpu.weight'), '77');
  await units.stopUnit(unit);
  await units.stopUnit(unit);
  assert.equal(existsSync(`/sys/fs/cgroup/${parent}/${unit}`), false);
  assert.equal(await shown(unit, 'ActiveState', 'CPUWeight'), 'ActiveState=inactive CPUWeight=[not set]');
});

test('properties of a slice that is not there are kept for it, and win over those it is made with', async () => {
  const unit = 'tubelettestdbus-kept.slice';
  await units.setUnitProperties(unit, [number('CPUWeight', 55n)]);
  assert.match(await shown(unit, 'ActiveState'), /inactive/);
  assert.equal(await units.startTransientUnit(unit, [...sliceProperties(unit), number('CPUWeight', 66n)]), 'started');
  assert.equal(inCgroup(unit, 'cpu.weight'), '55');
  await units.stopUnit(unit);
  await run('systemctl', 'revert', unit);
});

test('a slice that exists without being active is started', async () => {
  const unit = 'tubelettestdbus-file.slice';
  const file = `/run/systemd/system/${unit}`;
  writeFileSync(file, '[Slice]\nCPUWeight=44\n');
  await run('systemctl', 'daemon-reload');
  assert.equal(await units.startTransientUnit(unit, sliceProperties(unit)), 'existed');
  assert.equal(inCgroup(unit, 'cpu.weight'), '44');
  await units.stopUnit(unit);
  unlinkSync(file);
  await run('systemctl', 'daemon-reload');
});

test('what systemd refuses comes with its words', async () => {
  const unit = 'tubelettestdbus-b.slice';
  await assert.rejects(units.startTransientUnit(unit, [number('Nonsense', 7n)]), {
    message: `unable to start unit "${unit}" (properties [{Name:Nonsense Value:@t 7}]): Cannot set property Nonsense, or unknown property.`,
  });
  await assert.rejects(units.startTransientUnit('no--name.slice', []), /unable to start unit "no--name\.slice"/);
  await assert.rejects(
    units.setUnitProperties(parent, [number('Nonsense', 7n)]),
    /^TubeletError: unable to set unit p/,
  );
});

test('many at once are made, each with the end of its own job', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `tubelettestdbus-many${index}.slice`);
  const made = await Promise.all(names.map((unit) => units.startTransientUnit(unit, sliceProperties(unit))));
  assert.deepEqual(new Set(made), new Set(['started']));
  for (const unit of names) assert.equal(existsSync(`/sys/fs/cgroup/${parent}/${unit}`), true);
  await Promise.all(names.map((unit) => units.stopUnit(unit)));
  for (const unit of names) assert.equal(existsSync(`/sys/fs/cgroup/${parent}/${unit}`), false);
});

test('a delay lock is seen by logind until it is released', async () => {
  const listed = (): Promise<string> => run('systemd-inhibit', '--list', '--no-legend', '--no-pager');
  const lock = await logind.inhibitShutdown('tubelet-test', 'this test');
  assert.match(await listed(), new RegExp(`tubelet-test +0 +root +${process.pid} .*shutdown +this test +delay`));
  lock.release();
  lock.release();
  await until('the lock is gone', async () => ((await listed()).includes('tubelet-test') ? undefined : true));
});

test('logind is asked, watched, and reads its configuration anew', async () => {
  assert.equal(await logind.inhibitDelayMaxMs(), 5_000);
  assert.equal(await logind.isShuttingDown(), false);
  const seen: boolean[] = [];
  const controller = new AbortController();
  const { lost } = await logind.watchShutdown((active) => void seen.push(active), controller.signal);
  // Anybody may send a signal that looks like one of logind's.
  const [path, type] = ['/org/freedesktop/login1', 'org.freedesktop.login1.Manager'];
  await run('busctl', 'emit', path, type, 'PrepareForShutdown', 'b', 'true');
  await logind.reload();
  assert.equal(await logind.inhibitDelayMaxMs(), 5_000);
  assert.deepEqual(seen, []);
  controller.abort();
  await lost;
});

test('units go on over a restart of the bus and of systemd, and without a bus', async () => {
  const unit = 'tubelettestdbus-c.slice';
  const worlds = [['restart', 'dbus.service'], ['daemon-reexec'], ['stop', 'dbus.socket', 'dbus.service']] as const;
  for (const [index, words] of worlds.entries()) {
    await run('systemctl', ...words);
    await units.setUnitProperties(parent, [number('CPUWeight', BigInt(index + 10))]);
    assert.equal(await units.startTransientUnit(unit, sliceProperties(unit)), 'started');
    await units.stopUnit(unit);
    assert.equal(readFileSync(`/sys/fs/cgroup/${parent}/cpu.weight`, 'utf8').trim(), String(index + 10));
  }
  await run('systemctl', 'start', 'dbus.socket');
  const answered = async (): Promise<true | undefined> =>
    (await logind.inhibitDelayMaxMs()) === 5_000 ? true : undefined;
  await until('logind is back', async () => answered().catch(() => undefined));
});

test('units are made while the bus is restarted again and again', async () => {
  const stop = new AbortController();
  const restarts = (async () => {
    let count = 0;
    for (; !stop.signal.aborted; count++) {
      // systemd starts a service only a few times within seconds, and counts from then on.
      await run('systemctl', 'reset-failed', 'dbus.service');
      await run('systemctl', 'restart', 'dbus.service');
    }
    return count;
  })();
  const names = Array.from({ length: 8 }, (_, index) => `tubelettestdbus-r${index}.slice`);
  for (const unit of names) {
    await units.startTransientUnit(unit, sliceProperties(unit));
    assert.match(await shown(unit, 'ActiveState'), /=active/, unit);
  }
  for (const unit of names) await units.stopUnit(unit);
  stop.abort();
  assert.ok((await restarts) > 0);
  for (const unit of names) assert.equal(existsSync(`/sys/fs/cgroup/${parent}/${unit}`), false);
});
