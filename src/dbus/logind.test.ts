import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCalls } from '../base/calls.ts';
import type { Message } from '../dbus/message.ts';
import { busSocket, FakeBus, type BusReply } from '../testing/fake-bus/fake-bus.ts';
import { FakeDescriptor } from '../testing/fake-bus/fake-bus-client.ts';
import { SystemdService } from '../testing/fake-bus/systemd-service.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { openSystemd } from './open-systemd.ts';
import { textOf, type DBusValue } from './values.ts';

const name = 'org.freedesktop.login1';
const path = '/org/freedesktop/login1';
const managerInterface = `${name}.Manager`;

function world({ uid = 0 } = {}) {
  const clock = new FakeClock();
  const bus = new FakeBus();
  const systemd = new SystemdService(bus);
  const log = new MemoryLog();
  const calls: { readonly member: string | undefined; readonly body: readonly DBusValue[] }[] = [];
  const properties: Record<string, DBusValue> = { InhibitDelayMaxUSec: 5_000_000n, PreparingForShutdown: false };
  const lock = new FakeDescriptor();
  /** Answers in the place of Inhibit. */
  let inhibit: () => BusReply = () => ({ signature: 'h', body: [0], descriptors: [lock] });
  const service = (call: Message): BusReply => {
    calls.push({ member: call.member, body: call.body() });
    if (call.member === 'Inhibit') return inhibit();
    const value = properties[textOf(call.body()[1])] ?? '';
    const signature = { bigint: 't', boolean: 'b', string: 's' }[typeof value as string] ?? '';
    return { signature: 'v', body: [{ signature, value }] };
  };
  bus.serve(name, service);
  const signal = (signature: string, body: readonly DBusValue[]) =>
    bus.signal(name, { path, interface: managerInterface, member: 'PrepareForShutdown', signature, body });
  const { logind, close } = openSystemd({
    clock,
    log,
    calls: noCalls,
    environment: {},
    uid,
    open: bus.open,
    openWithDescriptors: bus.open,
  });
  return {
    clock,
    bus,
    systemd,
    log,
    calls,
    properties,
    lock,
    logind,
    close,
    signal,
    appear: () => bus.serve(name, service),
    setInhibit: (answer: () => BusReply) => (inhibit = answer),
  };
}

const never = new AbortController().signal;

test('the longest delay is asked for each time', async () => {
  const { logind, properties } = world();
  assert.equal(await logind.inhibitDelayMaxMs(), 5_000);
  properties.InhibitDelayMaxUSec = 45_500_000n;
  assert.equal(await logind.inhibitDelayMaxMs(), 45_500);
  properties.InhibitDelayMaxUSec = 'soon';
  await assert.rejects(logind.inhibitDelayMaxMs(), { kind: 'invalid' });
});

test('a lock is its descriptor: the connection goes, the lock stays until it is released', async () => {
  const { bus, logind, calls, lock } = world();
  const held = await logind.inhibitShutdown('kubelet', 'Kubelet needs time to handle node shutdown');
  assert.deepEqual(calls, [
    { member: 'Inhibit', body: ['shutdown', 'kubelet', 'Kubelet needs time to handle node shutdown', 'delay'] },
  ]);
  assert.deepEqual([bus.connections, lock.closed], [0, 0]);
  bus.drop();
  held.release();
  assert.equal(lock.closed, 1);
});

test('an answer without a descriptor, or with more, leaves none open', async () => {
  const { bus, logind, lock, setInhibit } = world();
  setInhibit(() => ({ signature: 'h', body: [0] }));
  await assert.rejects(logind.inhibitShutdown('a', 'b'), { kind: 'invalid' });
  setInhibit(() => ({ signature: 'h', body: [1], descriptors: [lock] }));
  await assert.rejects(logind.inhibitShutdown('a', 'b'), { kind: 'invalid' });
  assert.equal(lock.closed, 1);
  const more = [new FakeDescriptor(), new FakeDescriptor()];
  setInhibit(() => ({ signature: 'h', body: [0], descriptors: more }));
  await logind.inhibitShutdown('a', 'b');
  assert.deepEqual(
    more.map(({ closed }) => closed),
    [0, 1],
  );
  setInhibit(() => ({ errorName: 'org.freedesktop.login1.OperationInProgress', signature: 's', body: ['too late'] }));
  await assert.rejects(logind.inhibitShutdown('a', 'b'), { message: 'too late', kind: 'internal' });
  assert.equal(bus.connections, 0);
});

test('shutdowns are announced and called off; what is no announcement is logged', async () => {
  const { clock, logind, log, signal } = world();
  const seen: boolean[] = [];
  await logind.watchShutdown((active) => void seen.push(active), never);
  signal('b', [true]);
  signal('b', [false]);
  signal('s', ['true']);
  signal('', []);
  await clock.settle();
  assert.deepEqual(seen, [true, false]);
  assert.equal(log.messages('warn').length, 2);
});

test('a shutdown that another program announces is none', async () => {
  const { clock, bus, logind } = world();
  const seen: boolean[] = [];
  await logind.watchShutdown((active) => void seen.push(active), never);
  bus.forge({ path, interface: managerInterface, member: 'PrepareForShutdown', signature: 'b', body: [true] });
  await clock.settle();
  assert.deepEqual(seen, []);
});

test('whether a shutdown is under way can be asked', async () => {
  const { logind, properties } = world();
  assert.equal(await logind.isShuttingDown(), false);
  properties.PreparingForShutdown = true;
  assert.equal(await logind.isShuttingDown(), true);
  properties.PreparingForShutdown = 'yes';
  await assert.rejects(logind.isShuttingDown(), { kind: 'invalid' });
});

test('a watch ends when the bus goes, when logind goes, and when it is aborted', async () => {
  for (const why of ['bus', 'logind', 'aborted'] as const) {
    const { clock, bus, logind, signal, appear } = world();
    const controller = new AbortController();
    const seen: boolean[] = [];
    const { lost } = await logind.watchShutdown((active) => void seen.push(active), controller.signal);
    if (why === 'bus') bus.drop();
    else if (why === 'logind') appear();
    else controller.abort();
    await lost;
    await clock.settle();
    signal('b', [true]);
    await clock.settle();
    assert.equal(seen.length, 0, why);
    // The next watch stands on a new connection, or on the one that is still there.
    await logind.watchShutdown((active) => void seen.push(active), never);
    signal('b', [true]);
    await clock.settle();
    assert.deepEqual(seen, [true], why);
    assert.equal(bus.matches.filter((rule) => rule.includes('PrepareForShutdown')).length, 1, why);
  }
});

test('a logind that comes later is heard', async () => {
  const { clock, bus, logind, signal, appear } = world();
  bus.serve(name, undefined);
  const seen: boolean[] = [];
  await logind.watchShutdown((active) => void seen.push(active), never);
  const asked = logind.isShuttingDown();
  await clock.advance(50);
  appear();
  await clock.advance(1_000);
  assert.equal(await asked, false);
  signal('b', [true]);
  await clock.settle();
  assert.deepEqual([seen, bus.connections], [[true], 1]);
});

test('logind reads its configuration anew by a signal through systemd', async () => {
  const { logind, systemd } = world();
  const killed: (readonly DBusValue[])[] = [];
  systemd.instead = (call) => {
    if (call.member === 'KillUnit') killed.push(call.body());
    return undefined;
  };
  await logind.reload();
  assert.deepEqual(killed, [['systemd-logind.service', 'all', 1]]);
});

test('without a bus there is no logind, also not for root', async () => {
  const { clock, bus, logind } = world();
  bus.refused.add(busSocket);
  const asked = assert.rejects(logind.inhibitDelayMaxMs(), { kind: 'unavailable' });
  await clock.advance(10_000);
  await asked;
  await assert.rejects(logind.inhibitShutdown('a', 'b'), { kind: 'unavailable' });
});
