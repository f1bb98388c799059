import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noCalls } from '../../src/base/calls.ts';
import { TubeletError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { openSystemd } from '../../src/dbus/index.ts';
import type { OpenTransport } from '../../src/dbus/ports.ts';
import { openSocket } from '../../src/dbus/socket-transport.ts';
import { fdSockets } from '../../src/host/index.ts';
import type { UnitProperty } from '../../src/model/systemd-units.ts';
import { SystemdService } from '../../src/testing/fake-bus/systemd-service.ts';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { RealBus } from '../support/real-bus.ts';

const clock = systemClock();
const systemdName = 'org.freedesktop.systemd1';
const loginName = 'org.freedesktop.login1';
const login = { path: '/org/freedesktop/login1', interface: `${loginName}.Manager`, member: 'PrepareForShutdown' };

const bus = new RealBus();
let systemd: SystemdService;
before(async () => {
  await bus.start();
  systemd = new SystemdService(bus);
  serveLogin();
  await bus.served(systemdName);
  await bus.served(loginName);
});
after(() => bus.close());

function serveLogin(): void {
  bus.serve(loginName, ({ member }) => ({
    signature: 'v',
    body: [{ signature: member === 'Get' ? 'b' : 's', value: member === 'Get' ? false : '' }],
  }));
}

/** A client of its own, which never gets to a systemd that this machine may have. */
function opened() {
  const open: OpenTransport = (socket, events) =>
    socket === bus.socket
      ? openSocket(socket, events)
      : Promise.reject(new TubeletError('unavailable', `not in this test: ${socket}`));
  const uid = process.getuid?.() ?? 0;
  const ports = { clock, log: new MemoryLog(), calls: noCalls };
  return openSystemd({ ...ports, environment: bus.environment, uid, open, openWithDescriptors: fdSockets(clock) });
}

const weight = (value: bigint): UnitProperty => ({ name: 'CPUWeight', value: { type: 't', value } });

test('units are made, changed and stopped over a real bus', async () => {
  const { units, close } = opened();
  const properties: readonly UnitProperty[] = [
    { name: 'Description', value: { type: 's', value: 'a slice – with more than ASCII' } },
    { name: 'Wants', value: { type: 'as', value: ['a.slice', 'b.slice'] } },
    { name: 'DefaultDependencies', value: { type: 'b', value: false } },
    { name: 'AllowedCPUs', value: { type: 'ay', value: new Uint8Array([255, 1]) } },
    weight((1n << 64n) - 1n),
  ];
  assert.equal(await units.version(), 252);
  assert.equal(await units.startTransientUnit('real.slice', properties), 'started');
  assert.deepEqual(Object.fromEntries(systemd.units.get('real.slice') ?? []), {
    Description: 'a slice – with more than ASCII',
    Wants: ['a.slice', 'b.slice'],
    DefaultDependencies: false,
    AllowedCPUs: new Uint8Array([255, 1]),
    CPUWeight: (1n << 64n) - 1n,
  });
  assert.equal(await units.startTransientUnit('real.slice', []), 'existed');
  await units.setUnitProperties('real.slice', [weight(5n)]);
  assert.equal(systemd.units.get('real.slice')?.get('CPUWeight'), 5n);
  await units.stopUnit('real.slice');
  await units.stopUnit('real.slice');
  assert.equal(systemd.units.has('real.slice'), false);
  close();
});

test('many at once, and properties of half a megabyte', async () => {
  const { units, close } = opened();
  const names = Array.from({ length: 200 }, (_, index) => `many-${index}.slice`);
  assert.deepEqual(
    new Set(await Promise.all(names.map((name) => units.startTransientUnit(name, [])))),
    new Set(['started']),
  );
  const text = 'x'.repeat(500_000);
  await units.setUnitProperties('many-1.slice', [{ name: 'Description', value: { type: 's', value: text } }]);
  assert.equal(systemd.units.get('many-1.slice')?.get('Description'), text);
  close();
});

test('a bus that is killed and started again is survived, and jobs are waited for no longer than it lives', async () => {
  const { units, close } = opened();
  await units.setUnitProperties('kept.slice', [weight(5n)]);
  systemd.result = () => undefined;
  const started = units.startTransientUnit('waits.slice', []);
  while (!systemd.units.has('waits.slice')) await clock.sleep(5);
  await bus.stop();
  systemd.result = () => 'done';
  const set = units.setUnitProperties('kept.slice', [weight(6n)]);
  await bus.start();
  assert.equal(await started, 'started');
  await set;
  assert.equal(systemd.units.get('kept.slice')?.get('CPUWeight'), 6n);
  close();
});

test('a systemd that leaves the bus and comes back is followed', async () => {
  const { units, close } = opened();
  await units.setUnitProperties('kept.slice', [weight(5n)]);
  systemd.disappear();
  const set = units.setUnitProperties('kept.slice', [weight(7n)]);
  await clock.sleep(50);
  systemd.appear();
  await set;
  assert.equal(systemd.units.get('kept.slice')?.get('CPUWeight'), 7n);
  close();
});

test('announced shutdowns come from the owner of the name alone', async () => {
  const { logind, close } = opened();
  const seen: boolean[] = [];
  const controller = new AbortController();
  const { lost } = await logind.watchShutdown((active) => void seen.push(active), controller.signal);
  // systemd is on the same bus, and is not logind.
  bus.signal(systemdName, { ...login, signature: 'b', body: [true] });
  bus.signal(loginName, { ...login, signature: 'b', body: [false] });
  while (seen.length === 0) await clock.sleep(5);
  assert.deepEqual(seen, [false]);
  serveLogin();
  await lost;
  close();
});
