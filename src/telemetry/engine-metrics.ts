import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import type { Histogram } from '../base/metrics.ts';
import type { EngineMeter } from './engine-meter.ts';
import { LoopLag } from './loop-lag.ts';
import type { Registry } from './registry.ts';

/**
 * What is this agent's own: how late its event loop is, how full its heap, and what collecting garbage costs. The
 * measuring begins with `start`; the metrics are there from the beginning.
 */
export class EngineMetrics implements Component {
  readonly name = 'engine-metrics';
  readonly #lag: LoopLag;
  readonly #meter: EngineMeter;
  readonly #pauses: Histogram<'kind'>;
  #ignoreCollections: () => void = () => {};

  constructor(registry: Registry, clock: Clock, meter: EngineMeter) {
    this.#meter = meter;
    this.#lag = new LoopLag({ clock, beats: meter.beats() });
    registry.summary(
      {
        name: 'tubelet_event_loop_lag_seconds',
        help: 'How much later than due the event loop came to a timer; quantiles of the last half minute or more.',
      },
      () => this.#lag.read(),
    );
    this.#pauses = registry.histogram({
      name: 'tubelet_gc_duration_seconds',
      help: 'Time that collections of garbage took, by kind.',
      labels: ['kind'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25],
    });
    heapMetrics(registry);
  }

  async start(): Promise<void> {
    this.#lag.enable();
    this.#ignoreCollections = this.#meter.watchCollections((kind, seconds) => this.#pauses.observe(seconds, { kind }));
  }

  async stop(): Promise<void> {
    this.#lag.disable();
    this.#ignoreCollections();
  }
}

function heapMetrics(registry: Registry): void {
  const heap = (name: string, help: string, read: (heap: ReturnType<typeof getHeapStatistics>) => number): void =>
    registry.observed({ name, help, type: 'gauge' }, () => [{ labels: {}, value: read(getHeapStatistics()) }]);
  heap('tubelet_heap_used_bytes', 'Heap in use by objects, garbage included.', ({ used_heap_size: used }) => used);
  heap('tubelet_heap_committed_bytes', 'Heap taken from the system.', ({ total_heap_size: taken }) => taken);
  heap('tubelet_heap_limit_bytes', 'What the heap may grow to.', ({ heap_size_limit: limit }) => limit);
  heap(
    'tubelet_heap_external_bytes',
    'Memory outside the heap that objects hold.',
    ({ external_memory: held }) => held,
  );
  registry.observed(
    {
      name: 'tubelet_event_loop_busy_seconds_total',
      help: 'Time that the event loop was not waiting for something to happen.',
      type: 'counter',
    },
    () => [{ labels: {}, value: performance.eventLoopUtilization().active / 1_000 }],
  );
}
