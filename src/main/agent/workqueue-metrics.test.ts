import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedWork } from '../../base/keyed-work.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { workqueueMetrics } from './workqueue-metrics.ts';

test('a queue of work is measured while it works', async () => {
  const [clock, registry] = [new FakeClock(), new Registry()];
  const ends = new Map<string, { readonly ok: () => void; readonly fail: () => void }>();
  const work = new KeyedWork<string>({
    name: 'q',
    clock,
    random: seededRandom(1),
    parallel: 1,
    work: (key) =>
      new Promise((resolve, reject) => void ends.set(key, { ok: resolve, fail: () => reject(new Error('no')) })),
    onError: () => {},
    watch: workqueueMetrics(registry, clock),
  });
  const shows = (...lines: readonly string[]): void => {
    const page = new Set(registry.render().split('\n'));
    for (const line of lines) assert.ok(page.has(line), `${line} in\n${[...page].join('\n')}`);
  };
  shows(
    'workqueue_depth{name="q"} 0',
    'workqueue_adds_total{name="q"} 0',
    'workqueue_retries_total{name="q"} 0',
    'workqueue_longest_running_processor_seconds{name="q"} 0',
  );
  await work.start();
  work.wake('a');
  work.wake('b');
  work.wake('b');
  await clock.advance(2_000);
  shows(
    'workqueue_adds_total{name="q"} 2',
    'workqueue_depth{name="q"} 1',
    'workqueue_unfinished_work_seconds{name="q"} 2',
    'workqueue_longest_running_processor_seconds{name="q"} 2',
  );
  ends.get('a')?.ok();
  await clock.advance(1_000);
  ends.get('b')?.fail();
  await clock.settle();
  shows(
    'workqueue_depth{name="q"} 0',
    'workqueue_retries_total{name="q"} 1',
    'workqueue_queue_duration_seconds_sum{name="q"} 2',
    'workqueue_queue_duration_seconds_count{name="q"} 2',
    'workqueue_work_duration_seconds_sum{name="q"} 3',
    'workqueue_work_duration_seconds_count{name="q"} 2',
    'workqueue_unfinished_work_seconds{name="q"} 0',
  );
  await work.stop();
});
