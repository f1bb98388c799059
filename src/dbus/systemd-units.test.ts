import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCalls } from '../base/calls.ts';
import type { UnitProperty } from '../model/systemd-units.ts';
import { busSocket, FakeBus } from '../testing/fake-bus/fake-bus.ts';
import { SystemdService } from '../testing/fake-bus/systemd-service.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { openSystemd } from './open-systemd.ts';

const unit = 'kubepods-pod1.slice';
const properties: readonly UnitProperty[] = [
  { name: 'Description', value: { type: 's', value: 'libcontainer container kubepods-pod1.slice' } },
  { name: 'Wants', value: { type: 'as', value: ['kubepods.slice'] } },
  { name: 'CPUAccounting', value: { type: 'b', value: true } },
  { name: 'MemoryMax', value: { type: 't', value: (1n << 64n) - 1n } },
  { name: 'AllowedCPUs', value: { type: 'ay', value: new Uint8Array([3]) } },
];

function world({ uid = 0 } = {}) {
  const clock = new FakeClock();
  const bus = new FakeBus();
  const service = new SystemdService(bus);
  const log = new MemoryLog();
  const { units, close } = openSystemd({
    clock,
    log,
    calls: noCalls,
    environment: {},
    uid,
    open: bus.open,
    openWithDescriptors: bus.open,
  });
  /** Ends with the outcome, while virtual time goes on. */
  const timed = async <T>(work: Promise<T>, ms = 120_000): Promise<T> => {
    const [outcome] = await Promise.all([
      work.then(
        (value) => () => value,
        (error: unknown) => () => {
          throw error;
        },
      ),
      clock.advance(ms),
    ]);
    return outcome();
  };
  return { clock, bus, service, log, units, close, timed };
}

test('starts a unit with its properties over a connection that is kept', async () => {
  const { clock, bus, service, units, close } = world();
  assert.equal(bus.connections, 0);
  assert.equal(await units.startTransientUnit(unit, properties), 'started');
  assert.deepEqual(Object.fromEntries(service.units.get(unit) ?? []), {
    Description: 'libcontainer container kubepods-pod1.slice',
    Wants: ['kubepods.slice'],
    CPUAccounting: true,
    MemoryMax: (1n << 64n) - 1n,
    AllowedCPUs: new Uint8Array([3]),
  });
  await units.setUnitProperties(unit, [{ name: 'CPUWeight', value: { type: 't', value: 7n } }]);
  await units.setUnitProperties(unit, []);
  assert.equal(service.units.get(unit)?.get('CPUWeight'), 7n);
  assert.equal(await units.startTransientUnit(unit, properties), 'existed');
  await units.stopUnit(unit);
  await units.stopUnit(unit);
  assert.equal(service.units.has(unit), false);
  assert.deepEqual(bus.opened, [busSocket]);
  close();
  await clock.settle();
  assert.equal(bus.connections, 0);
  await assert.rejects(units.setUnitProperties(unit, []), { kind: 'cancelled' });
});

test('a job may end before the answer that names it', async () => {
  const { service, units } = world();
  service.resultFirst = true;
  assert.equal(await units.startTransientUnit(unit, []), 'started');
  await units.stopUnit(unit);
});

test('many at once share one connection, and wait for their own jobs', async () => {
  const { bus, service, units } = world();
  service.result = (_, name) => (name.endsWith('7.slice') ? 'failed' : 'done');
  const names = Array.from({ length: 100 }, (_, index) => `a-${index}.slice`);
  const outcomes = await Promise.allSettled(names.map((name) => units.startTransientUnit(name, [])));
  assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 10);
  assert.equal(bus.opened.length, 1);
});

test('a unit that is known but not active is started', async () => {
  const { bus, service, units } = world();
  await units.setUnitProperties(unit, [{ name: 'CPUWeight', value: { type: 't', value: 7n } }]);
  assert.ok(service.inactive.has(unit));
  assert.equal(await units.startTransientUnit(unit, properties), 'existed');
  assert.equal(service.inactive.has(unit), false);
  assert.ok(bus.calls.includes('StartUnit'));
});

test('a job that does not end well is an error in the words of the Go kubelet', async () => {
  const { bus, service, units, log } = world();
  service.result = () => 'failed';
  await assert.rejects(units.startTransientUnit(unit, []), {
    message: `error creating systemd unit \`${unit}\`: got \`failed\``,
  });
  assert.equal(bus.calls.at(-1), 'ResetFailedUnit');
  await units.stopUnit(unit);
  assert.deepEqual(log.entries.at(-1)?.fields, { unit, result: 'failed' });
});

test('a job that does not end in half a minute is an error', async () => {
  const { bus, service, units, timed } = world();
  service.result = () => undefined;
  await assert.rejects(timed(units.startTransientUnit(unit, [])), {
    kind: 'timeout',
    message: `Timeout waiting for systemd to create ${unit}`,
  });
  assert.equal(bus.calls.at(-1), 'ResetFailedUnit');
  await assert.rejects(timed(units.stopUnit(unit)), {
    kind: 'timeout',
    message: `Timed out while waiting for systemd to remove ${unit}`,
  });
});

test('what systemd refuses is an error with its words', async () => {
  const { service, units } = world();
  const errorName = 'org.freedesktop.DBus.Error.PropertyReadOnly';
  service.instead = () => ({ errorName, signature: 's', body: ['Cannot set property Nonsense'] });
  const two: readonly UnitProperty[] = [properties[1]!, properties[3]!];
  await assert.rejects(units.startTransientUnit(unit, two), {
    message:
      `unable to start unit "${unit}" (properties [{Name:Wants Value:["kubepods.slice"]} ` +
      '{Name:MemoryMax Value:@t 18446744073709551615}]): Cannot set property Nonsense',
  });
  await assert.rejects(units.setUnitProperties(unit, two), {
    message: 'unable to set unit properties: Cannot set property Nonsense',
  });
  await assert.rejects(units.stopUnit(unit), { message: `unable to stop unit ${unit}: Cannot set property Nonsense` });
});

test('the version is its first number, and is asked for until it is known', async () => {
  const { bus, service, units, log } = world();
  service.version = 'unknown';
  assert.equal(await units.version(), undefined);
  assert.deepEqual(log.messages(), ['unable to get systemd version']);
  service.version = 'v256.7';
  assert.equal(await units.version(), 256);
  service.version = 'v257';
  assert.equal(await units.version(), 256);
  assert.equal(bus.calls.filter((call) => call === 'Get').length, 2);
});

test('a call without an answer ends', async () => {
  const { service, units, timed } = world();
  service.instead = () => 'silent';
  await assert.rejects(timed(units.setUnitProperties(unit, [])), { kind: 'timeout' });
});

test('a connection that is being made when all end is closed once it stands', async () => {
  const { clock, bus, units, close } = world();
  const set = units.setUnitProperties(unit, []);
  close();
  await assert.doesNotReject(Promise.race([set.catch(() => {}), clock.advance(60_000)]));
  assert.equal(bus.connections, 0);
});

test('a connection over which nothing comes any more is given up', async () => {
  const { bus, service, units, timed } = world();
  await units.setUnitProperties(unit, []);
  service.instead = () => 'silent';
  await assert.rejects(timed(units.setUnitProperties(unit, [])), { kind: 'timeout' });
  service.instead = () => undefined;
  await units.setUnitProperties(unit, []);
  assert.deepEqual([bus.opened.length, bus.connections], [2, 1]);
});

test('root reaches systemd without a bus, or when it is not on the bus', async () => {
  const without: Readonly<Record<string, (bus: FakeBus, service: SystemdService) => void>> = {
    refused: (bus) => bus.refused.add(busSocket),
    silent: (bus) => bus.silent.add(busSocket),
    'not on the bus': (_, service) => service.disappear(),
  };
  for (const [state, make] of Object.entries(without)) {
    const { bus, service, units, timed } = world();
    make(bus, service);
    assert.equal(await timed(units.startTransientUnit(unit, [])), 'started', state);
    assert.deepEqual(bus.opened, [busSocket, '/run/systemd/private'], state);
    assert.equal(bus.connections, 1, state);
  }
});

test('others get the failure of the bus, after a few tries', async () => {
  const { bus, units, timed } = world({ uid: 1000 });
  await assert.rejects(timed(units.setUnitProperties(unit, [])), { kind: 'denied' });
  bus.refused.add(busSocket);
  await assert.rejects(timed(units.setUnitProperties(unit, [])), {
    kind: 'unavailable',
    message: `unable to set unit properties: cannot connect to ${busSocket}: refused`,
  });
  assert.deepEqual(bus.opened, Array(6).fill(busSocket));
});

test('what was under way when the bus was lost is done, once', async () => {
  for (const method of ['StartTransientUnit', 'SetUnitProperties', 'StopUnit']) {
    const { bus, service, units, timed } = world();
    let drops = 1;
    // The work is done, and the answer is lost.
    service.onDone = (done) => {
      if (done === method && drops > 0) {
        drops--;
        bus.drop();
      }
    };
    // Whose a unit is that was there already is not known without the answer.
    assert.equal(
      await timed(units.startTransientUnit(unit, properties)),
      method === 'StartTransientUnit' ? 'existed' : 'started',
    );
    assert.equal(service.units.get(unit)?.get('CPUAccounting'), true);
    await timed(units.setUnitProperties(unit, [{ name: 'CPUWeight', value: { type: 't', value: 7n } }]));
    assert.equal(service.units.get(unit)?.get('CPUWeight'), 7n);
    await timed(units.stopUnit(unit));
    assert.equal(service.units.has(unit), false);
    assert.deepEqual([drops, bus.opened.length, bus.connections], [0, 2, 1]);
  }
});

test('a wait for a job ends when the bus is lost or systemd leaves it, and the unit is asked for', async () => {
  for (const lose of ['bus', 'systemd'] as const) {
    const { clock, bus, service, units } = world();
    service.result = () => undefined;
    const started = units.startTransientUnit(unit, []);
    await clock.advance(1_000);
    assert.equal(service.units.has(unit), true);
    service.result = () => 'done';
    if (lose === 'bus') bus.drop();
    else service.appear();
    await clock.advance(1_000);
    assert.equal(await started, 'started', lose);
    assert.deepEqual(
      bus.calls.filter((call) => call.startsWith('Start')),
      ['StartTransientUnit', 'StartTransientUnit', 'StartUnit'],
      lose,
    );
    assert.ok(clock.monotonic() < 30_000);
  }
});

test('a bus that is lost again and again is given up', async () => {
  const { bus, service, units, timed } = world();
  service.onDone = (method) => void (method === 'SetUnitProperties' && bus.drop());
  await assert.rejects(timed(units.setUnitProperties(unit, [])), {
    kind: 'unavailable',
    message: 'unable to set unit properties: the connection to D-Bus was lost',
  });
  assert.equal(bus.opened.length, 5);
});

test('a job is not ended by a signal that another program sends', async () => {
  const { clock, bus, service, units } = world();
  service.result = () => undefined;
  let ended = false;
  const started = units.startTransientUnit(unit, []).then(() => (ended = true));
  await clock.advance(1_000);
  const job = '/org/freedesktop/systemd1/job/1';
  const path = '/org/freedesktop/systemd1';
  bus.forge({
    path,
    interface: 'org.freedesktop.systemd1.Manager',
    member: 'JobRemoved',
    signature: 'uoss',
    body: [1, job, unit, 'done'],
  });
  await clock.advance(1_000);
  assert.equal(ended, false);
  service.jobRemoved(job, unit, 'done');
  await started;
});
