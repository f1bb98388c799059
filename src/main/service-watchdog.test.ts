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
        message: 'Loops hang, the systemd watchdog is not notified and will restart the agent',
        fields: {
          loops: ['loop pleg-relist has been in one step for 320 s, longer than 300 s'],
          withinMs: 40_000,
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

test('an unusable environment is a warning, and there is no watchdog', () => {
  const log = new MemoryLog();
  const span = (env: Parameters<typeof watchdogTimeoutMs>[0]) => watchdogSpan(() => watchdogTimeoutMs(env, 7), log);
  assert.equal(span({ WATCHDOG_USEC: '3000000' }), 3_000);
  assert.equal(span({}), undefined);
  assert.deepEqual(log.entries, []);
  assert.equal(span({ WATCHDOG_USEC: '3s' }), undefined);
  assert.equal(span({ WATCHDOG_USEC: '3000000', WATCHDOG_PID: 'me' }), undefined);
  assert.deepEqual(
    log.entries.map(({ fields }) => fields?.['err']),
    ['WATCHDOG_USEC is "3s", which is not a number of microseconds', 'WATCHDOG_PID is "me", which is not a process id'],
  );
});
