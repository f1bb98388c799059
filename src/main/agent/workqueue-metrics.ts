import type { Clock } from '../../base/clock.ts';
import type { WorkQueueMetrics } from '../../base/keyed-work.ts';
import type { Metrics } from '../../base/metrics.ts';

interface Queue {
  readonly depth: () => number;
  /** When the running rounds began, on the monotonic clock. */
  readonly running: Set<{ readonly began: number }>;
}

/** From ten nanoseconds on, each ten times the one before. */
const buckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1_000];

/** Metrics of the agent's work queues, under the names that dashboards of controllers use. */
export function workqueueMetrics(metrics: Metrics, clock: Pick<Clock, 'monotonic'>): WorkQueueMetrics {
  const queues = new Map<string, Queue>();
  const common = { stability: 'ALPHA', labels: ['name'] } as const;
  const adds = metrics.counter({ ...common, name: 'workqueue_adds_total', help: 'Keys that were put into a queue.' });
  const retries = metrics.counter({
    ...common,
    name: 'workqueue_retries_total',
    help: 'Rounds that are to be repeated.',
  });
  const waits = metrics.histogram({
    ...common,
    name: 'workqueue_queue_duration_seconds',
    help: 'Seconds that keys waited for their turn.',
    buckets,
  });
  const works = metrics.histogram({
    ...common,
    name: 'workqueue_work_duration_seconds',
    help: 'Seconds that rounds took.',
    buckets,
  });
  const gauge = (name: string, help: string, read: (queue: Queue) => number): void =>
    metrics.observed({ ...common, name, help, type: 'gauge' }, () =>
      [...queues].map(([queue, state]) => ({ labels: { name: queue }, value: read(state) })),
    );
  const ages = ({ running }: Queue): readonly number[] =>
    [...running].map(({ began }) => (clock.monotonic() - began) / 1_000);
  gauge('workqueue_depth', 'Keys that wait for their turn.', ({ depth }) => depth());
  gauge(
    'workqueue_unfinished_work_seconds',
    'Seconds that the rounds under way have taken so far, together.',
    (queue) => ages(queue).reduce((sum, age) => sum + age, 0),
  );
  gauge('workqueue_longest_running_processor_seconds', 'Seconds that the longest round under way has taken.', (queue) =>
    Math.max(0, ...ages(queue)),
  );
  return {
    queue: (name, depth) => {
      const queue: Queue = { depth, running: new Set() };
      queues.set(name, queue);
      // A counter must start at zero, so that rates are zero and not unknown.
      for (const counter of [adds, retries]) counter.add(0, { name });
      return {
        added: () => adds.inc({ name }),
        began: (waitedMs) => {
          waits.observe(waitedMs / 1_000, { name });
          const round = { began: clock.monotonic() };
          queue.running.add(round);
          return () => {
            queue.running.delete(round);
            works.observe((clock.monotonic() - round.began) / 1_000, { name });
          };
        },
        retried: () => retries.inc({ name }),
      };
    },
  };
}
