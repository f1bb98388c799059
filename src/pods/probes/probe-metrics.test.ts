import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../../telemetry/index.ts';
import { aPod } from '../../testing/pods.ts';
import { probeMetrics } from './probe-metrics.ts';

test('probes are counted by result, timed unless they failed, and forgotten with their container', () => {
  const registry = new Registry();
  const metrics = probeMetrics(registry);
  const pod = aPod();
  metrics.observe('Liveness', 'successful', pod, 'main', 0.2);
  metrics.observe('Liveness', 'failed', pod, 'main', 1);
  const who = `container="main",namespace="${pod.namespace}",pod="${pod.name}"`;
  const page = registry.render();
  assert.ok(page.includes(`prober_probe_total{${who},pod_uid="${pod.uid}",probe_type="Liveness",result="failed"} 1`));
  assert.ok(page.includes(`prober_probe_duration_seconds_count{${who},probe_type="Liveness"} 1`));
  metrics.forget('Liveness', pod, 'main');
  assert.equal(registry.render().includes('main'), false);
});
