import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Component } from '../base/component.ts';
import { describeError, TubeletError } from '../base/errors.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { ComponentRunner } from './component-runner.ts';

function setUp(startMs?: number) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const calls: string[] = [];
  const runner = new ComponentRunner({ clock, log, stopMs: 1_000, ...(startMs !== undefined && { startMs }) });
  const component = (name: string, start: Component['start'] = async () => {}): Component => ({
    name,
    start: (signal) => {
      calls.push(`start ${name}`);
      return start(signal);
    },
    stop: async () => void calls.push(`stop ${name}`),
  });
  const life = new AbortController();
  const slow = (name: string, ms: number) => component(name, (signal) => clock.sleep(ms, signal));
  return { clock, log, calls, runner, component, slow, life };
}

const never = new Promise<void>(() => {});

describe('ComponentRunner', () => {
  test('starts in order, stops in reverse, and leaves no timer', async () => {
    const { clock, log, calls, runner, component, life } = setUp();
    await runner.start([component('a'), component('b')], life.signal);
    await runner.stop();
    assert.deepEqual(calls, ['start a', 'start b', 'stop b', 'stop a']);
    assert.equal(clock.pending(), 0);
    assert.deepEqual([...log.messages('warn'), ...log.messages('error')], []);
  });

  test('names a component that is late, after ten seconds and ever less often', async () => {
    const { clock, log, runner, slow, component, life } = setUp();
    const started = runner.start([slow('quick', 9_000), slow('pleg', 200_000), component('last')], life.signal);
    const at: (readonly [number, unknown, unknown])[] = [];
    for (let second = 0; second < 220; second++) {
      const before = log.entries.length;
      await clock.advance(1_000);
      for (const { severity, fields } of log.entries.slice(before)) {
        if (severity === 'warn') at.push([clock.monotonic() / 1_000, fields['component'], fields['seconds']]);
      }
    }
    await started;
    assert.deepEqual(at, [
      [19, 'pleg', 10],
      [39, 'pleg', 30],
      [79, 'pleg', 70],
      [159, 'pleg', 150],
    ]);
    assert.equal(clock.pending(), 0);
  });

  test('a component that never starts fails the start by its name, and is stopped like any other', async () => {
    for (const [startMs, limitMs] of [
      [undefined, 300_000],
      [600_000, 600_000],
    ] as const) {
      const { clock, calls, runner, component, life } = setUp(startMs);
      let failure: unknown;
      const started = runner
        .start([component('first'), component('stuck', () => never), component('last')], life.signal)
        .catch((error: unknown) => {
          failure = error;
        });
      await clock.advance(limitMs - 1);
      assert.equal(failure, undefined);
      await clock.advance(1);
      await started;
      assert.equal(describeError(failure), `cannot start stuck: it did not start within ${limitMs / 1_000} s`);
      await runner.stop();
      assert.deepEqual(calls, ['start first', 'start stuck', 'stop stuck', 'stop first']);
      assert.equal(clock.pending(), 0);
    }
  });

  test('a late failure of a component that timed out is not an unhandled rejection', async () => {
    const { clock, runner, component, life } = setUp(1_000);
    const late = component('late', async () => {
      await clock.sleep(5_000);
      throw new Error('too late to matter');
    });
    const started = assert.rejects(runner.start([late], life.signal), { message: 'cannot start late' });
    await clock.advance(6_000);
    await started;
  });

  test('the life of a component is that of the agent, long after its start', async () => {
    const { clock, runner, component, life } = setUp(1_000);
    let seen: AbortSignal | undefined;
    const own = component('own', async (signal) => {
      seen = signal;
    });
    await runner.start([own], life.signal);
    await clock.advance(10_000);
    assert.equal(seen?.aborted, false);
    life.abort();
    assert.equal(seen?.aborted, true);
  });

  test('a start that is interrupted fails with the reason of the interruption', async () => {
    const { clock, runner, slow, component, life, calls } = setUp();
    const reason = new TubeletError('cancelled', 'SIGTERM');
    const started = assert.rejects(runner.start([slow('slow', 60_000), component('last')], life.signal), reason);
    await clock.advance(1_000);
    life.abort(reason);
    await started;
    assert.deepEqual(calls, ['start slow']);
    assert.equal(clock.pending(), 0);
  });

  test('one that hangs in its stop is logged and does not block the others', async () => {
    const { clock, log, calls, runner, component, life } = setUp();
    const stuck = { ...component('stuck'), stop: () => never };
    await runner.start([component('first'), stuck, component('last')], life.signal);
    const stopped = runner.stop();
    await clock.advance(1_000);
    await stopped;
    assert.deepEqual(calls.slice(3), ['stop last', 'stop first']);
    assert.deepEqual(
      log.entries.filter(({ severity }) => severity === 'error').map(({ message, fields }) => [message, fields]),
      [['Component did not stop cleanly', { component: 'stuck' }]],
    );
  });
});
