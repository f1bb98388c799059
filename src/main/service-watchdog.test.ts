import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TubeletError } from '../base/errors.ts';
import { Heartbeats, LoopHeartbeat } from '../base/heartbeats.ts';
import { watchdogTimeoutMs } from '../host/index.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { seededRandom } from '../testing/seeded-random.ts';
import { ServiceWatchdog, watchdogSpan } from './service-watchdog.ts';

const minute = 60_000;

async function started(watchdog: (at: number) => void = () => {}) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const heartbeats = new Heartbeats();
  const notified: number[] = [];
  const notifier = {
    watchdog: async () => {
      watchdog(clock.monotonic());
      notified.push(clock.monotonic());
      return true;
    },
  };
  const timeoutMs = 40_000;
  const component = new ServiceWatchdog({ clock, random: seededRandom(1), log, heartbeats, notifier, timeoutMs });
  await component.start();
  const loop = new LoopHeartbeat({ name: 'pleg-relist' }, () => clock.monotonic());
  heartbeats.add(loop);
  return { clock, log, loop, heartbeats, component, notified };
}

describe('ServiceWatchdog', () => {
  test('notifies at once and then twice within the span', async () => {
    const { clock, component, notified, log, heartbeats } = await started();
    await clock.advance(2 * minute);
    assert.deepEqual(notified, [0, 20_000, 40_000, 60_000, 80_000, 100_000, 120_000]);
    await component.stop();
    await clock.advance(minute);
    assert.equal(notified.length, 7);
    assert.equal(clock.pending(), 0);
    assert.deepEqual(log.entries, []);
    assert.deepEqual(
      heartbeats.all().map(({ name }) => name),
      ['pleg-relist'],
    );
  });

  test('stops when a loop hangs, logs it once, and continues soon after the loop does', async () => {
    const { clock, loop, component, notified, log } = await started();
    loop.began();
    await clock.advance(7 * minute);
    assert.equal(notified.at(-1), 5 * minute);
    assert.deepEqual(log.entries, [
      {
        severity: 'error',
        message: 'Do not notify watchdog this iteration as the kubelet is reportedly not healthy',
        fields: {
          err: 'checker syncloop failed: loop pleg-relist has been in one step for 320 s, longer than 300 s',
          restartedWithinMs: 40_000,
        },
        error: undefined,
      },
    ]);
    loop.ended();
    await clock.advance(5_000);
    assert.equal(notified.at(-1), 7 * minute + 5_000);
    assert.equal(log.entries.at(-1)?.message, 'All loops make progress again, the systemd watchdog is notified');
    await component.stop();
  });

  test('a loop that waits on purpose, backs off or makes short steps stops nothing', async () => {
    const { clock, loop, component, notified } = await started();
    void loop.waitFor(new Promise(() => {}));
    await clock.advance(20 * minute);
    loop.failed();
    await clock.advance(20 * minute);
    loop.began();
    for (let steps = 0; steps < 10; steps++) {
      await clock.advance(2 * minute);
      loop.beat();
    }
    assert.equal(notified.length, 1 + (60 * minute) / 20_000);
    await component.stop();
  });

  test('a service manager without a socket is a warning', async () => {
    const log = new MemoryLog();
    const clock = new FakeClock();
    const deps = { clock, random: seededRandom(1), log, heartbeats: new Heartbeats(), timeoutMs: 40_000 };
    const component = new ServiceWatchdog({ ...deps, notifier: { watchdog: async () => false } });
    await component.start();
    await clock.advance(minute);
    assert.deepEqual(
      log.entries.map(({ fields }) => fields['err']),
      ['failed to notify systemd watchdog, notification not supported - (i.e. NOTIFY_SOCKET is unset)'],
    );
    await component.stop();
  });

  test('a service manager that cannot be reached is a warning, and is tried again soon', async () => {
    const { clock, component, notified, log } = await started((at) => {
      if (at >= 20_000 && at < 40_000) throw new TubeletError('unavailable', 'its queue is full');
    });
    await clock.advance(45_000);
    assert.deepEqual(notified, [0, 40_000]);
    assert.deepEqual(log.messages('warn'), ['The systemd watchdog cannot be notified']);
    await component.stop();
  });
});

test('the span that the service manager has set', () => {
  const span = (env: Parameters<typeof watchdogTimeoutMs>[0]) => watchdogSpan(() => watchdogTimeoutMs(env, 7));
  assert.equal(span({ WATCHDOG_USEC: '3000000' }), 3_000);
  assert.equal(span({}), undefined);
  const table = [
    ['1000000', 'create health checker: configure watchdog timeout too small: 1s'],
    ['20000', 'create health checker: configure watchdog timeout too small: 20ms'],
    [
      '3s',
      'create health checker: configure watchdog: ' +
        'error converting WATCHDOG_USEC: strconv.Atoi: parsing "3s": invalid syntax',
    ],
    ['0', 'create health checker: configure watchdog: error WATCHDOG_USEC must be a positive number'],
  ] as const;
  for (const [text, message] of table) assert.throws(() => span({ WATCHDOG_USEC: text }), { message });
});
