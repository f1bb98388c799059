import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../base/system-clock.ts';
import { nodeEngine } from './engine-meter.ts';
import { EngineMetrics } from './engine-metrics.ts';
import { Registry } from './registry.ts';
import { registryMetrics } from './registry-metrics.ts';

function valueOf(registry: Registry, line: RegExp): number {
  return Number((line.exec(registry.render()) ?? assert.fail(String(line)))[1]);
}

test('heap, lag and collections of this process are measured while it runs', async () => {
  const registry = new Registry();
  const engine = new EngineMetrics(registry, systemClock(), nodeEngine);
  await engine.start();
  try {
    assert.ok(valueOf(registry, /^tubelet_heap_used_bytes (.*)$/m) > 1e6);
    assert.ok(valueOf(registry, /^tubelet_heap_limit_bytes (.*)$/m) > 1e7);
    assert.ok(valueOf(registry, /^tubelet_event_loop_busy_seconds_total (.*)$/m) >= 0);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const hasCollected = (): boolean =>
      /tubelet_gc_duration_seconds_count\{kind="major"\} [1-9]/.test(registry.render());
    const hasBeaten = (): boolean => valueOf(registry, /^tubelet_event_loop_lag_seconds_count (.*)$/m) > 0;
    collect();
    while (!hasCollected() || !hasBeaten()) await new Promise((resolve) => void setImmediate(resolve));
  } finally {
    await engine.stop();
  }
});

test('a registry counts what is in it by how much users may rely on it', () => {
  const registry = new Registry();
  registryMetrics(registry);
  registry.counter({ name: 'a_total', help: 'a', stability: 'ALPHA' });
  registry.counter({ name: 'process_x', help: 'of every program' });
  const lines = registry.render().split('\n');
  for (const line of [
    'registered_metrics_total{deprecated_version="",stability_level="ALPHA"} 1',
    'registered_metrics_total{deprecated_version="",stability_level="BETA"} 3',
    'disabled_metrics_total 0',
    'hidden_metrics_total 0',
  ]) {
    assert.ok(lines.includes(line), line);
  }
});
