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
  for (const bad of ['0', '-1', 'x', '1.5']) {
    assert.throws(() => watchdogTimeoutMs({ WATCHDOG_USEC: bad }, 7), { kind: 'invalid' }, bad);
  }
  for (const bad of ['0', '-7', '07', '7 ', 'seven']) {
    const env = { WATCHDOG_USEC: '1500', WATCHDOG_PID: bad };
    assert.throws(() => watchdogTimeoutMs(env, 7), { kind: 'invalid' }, bad);
  }
});
