import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { notifySocket } from '../testing/notify-socket.ts';
import { serviceNotifier, watchdogTimeoutMs } from './sd-notify.ts';

function folder(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'tubelet-notify-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('notifies a socket with a path, and one with an abstract name', async (context) => {
  for (const name of [join(folder(context), 'notify'), `@tubelet-test-${process.pid}`]) {
    const received = notifySocket(context, name);
    const notifier = serviceNotifier({ NOTIFY_SOCKET: name });
    assert.equal(await notifier.ready(), true);
    assert.equal(await notifier.watchdog(), true);
    assert.equal(await notifier.stopping(), true);
    assert.deepEqual(received(), ['READY=1', 'WATCHDOG=1', 'STOPPING=1']);
  }
});

test('does nothing without a service manager', async () => {
  assert.equal(await serviceNotifier({}).ready(), false);
  assert.equal(await serviceNotifier({ NOTIFY_SOCKET: '' }).watchdog(), false);
});

test('a missing socket is an error', async (context) => {
  const name = join(folder(context), 'none');
  await assert.rejects(serviceNotifier({ NOTIFY_SOCKET: name }).ready(), { kind: 'notFound' });
  await assert.rejects(serviceNotifier({ NOTIFY_SOCKET: `/${'x'.repeat(120)}` }).ready(), { kind: 'invalid' });
});

test('the watchdog interval', () => {
  assert.equal(watchdogTimeoutMs({}, 7), undefined);
  assert.equal(watchdogTimeoutMs({ WATCHDOG_USEC: '30000000' }, 7), 30_000);
  assert.equal(watchdogTimeoutMs({ WATCHDOG_USEC: '1500', WATCHDOG_PID: '7' }, 7), 1.5);
  assert.equal(watchdogTimeoutMs({ WATCHDOG_USEC: '1500', WATCHDOG_PID: '8' }, 7), undefined);
  assert.equal(watchdogTimeoutMs({ WATCHDOG_USEC: '+2000000', WATCHDOG_PID: '07' }, 7), 2_000);
  for (const owner of ['0', '-7']) {
    assert.equal(watchdogTimeoutMs({ WATCHDOG_USEC: '1500', WATCHDOG_PID: owner }, 7), undefined);
  }
});

test('a watchdog that cannot be understood, in the words of a Go kubelet', () => {
  const table = [
    [{ WATCHDOG_USEC: '0' }, 'error WATCHDOG_USEC must be a positive number'],
    [{ WATCHDOG_USEC: '-1' }, 'error WATCHDOG_USEC must be a positive number'],
    [{ WATCHDOG_USEC: '3s' }, 'error converting WATCHDOG_USEC: strconv.Atoi: parsing "3s": invalid syntax'],
    [{ WATCHDOG_USEC: '1.5' }, 'error converting WATCHDOG_USEC: strconv.Atoi: parsing "1.5": invalid syntax'],
    [
      { WATCHDOG_USEC: '9223372036854775808' },
      'error converting WATCHDOG_USEC: strconv.Atoi: parsing "9223372036854775808": value out of range',
    ],
    [
      { WATCHDOG_USEC: '1500', WATCHDOG_PID: '7 ' },
      'error converting WATCHDOG_PID: strconv.Atoi: parsing "7 ": invalid syntax',
    ],
  ] as const;
  for (const [env, message] of table) assert.throws(() => watchdogTimeoutMs(env, 7), { kind: 'invalid', message });
});
