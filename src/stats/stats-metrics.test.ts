import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { Registry } from '../telemetry/index.ts';
import { StatsMetrics } from './stats-metrics.ts';

test('logs and claims are reported as last measured, a claim of two pods once', async () => {
  const registry = new Registry();
  const claim = { namespace: 'default', claim: 'data', capacityBytes: 100, usedBytes: 40, isAbnormal: false };
  const measured = new StatsMetrics(registry);
  await measured.prepare({
    logs: async () => [{ uid: podUid('u'), namespace: 'default', pod: 'web', container: 'main', bytes: 8_192 }],
    claims: async () => [claim, { ...claim, usedBytes: 41 }],
  });
  measured.volumeMeasured('du', 0.02);
  const page = registry.render();
  const lines = page.split('\n');
  for (const line of [
    'kubelet_container_log_filesystem_used_bytes{container="main",namespace="default",pod="web",uid="u"} 8192',
    'kubelet_volume_stats_capacity_bytes{namespace="default",persistentvolumeclaim="data"} 100',
    'kubelet_volume_stats_used_bytes{namespace="default",persistentvolumeclaim="data"} 41',
    'kubelet_volume_stats_health_status_abnormal{namespace="default",persistentvolumeclaim="data"} 0',
    'kubelet_volume_metric_collection_duration_seconds_count{metric_source="du"} 1',
  ]) {
    assert.ok(lines.includes(line), line);
  }
  assert.doesNotMatch(page, /kubelet_volume_stats_inodes/, 'what is not known is left out');
});
