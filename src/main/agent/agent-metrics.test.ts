import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveGates } from '../../config/index.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { stillEngine } from '../../testing/still-engine.ts';
import { agentMetrics } from './agent-metrics.ts';

test('metrics of the version and the settings of the agent', () => {
  const [registry, probes] = [new Registry(), new Registry()];
  const { gates: featureGates } = resolveGates({ EventedPLEG: true });
  const settings = { featureGates, version: 'v1.34.0+tubelet.x' };
  agentMetrics({
    registry,
    otherPages: [probes],
    settings,
    nodeName: 'vm',
    clock: new FakeClock(),
    engine: stillEngine,
  });
  const page = registry.render();
  for (const line of [
    /^kubelet_node_name\{node="vm"\} 1$/m,
    /^kubernetes_build_info\{.*git_version="v1\.34\.0\+tubelet\.x",go_version="node2\d.*",major="1",minor="34",.*\} 1$/m,
    /^version_info\{binary="1\.34",component="kube",emulation="1\.34",min_compat="1\.33"\} 1$/m,
    /^kubernetes_feature_enabled\{name="EventedPLEG",stage="ALPHA"\} 1$/m,
    /^kubernetes_feature_enabled\{name="ExecProbeTimeout",stage=""\} 1$/m,
    /^kubernetes_feature_enabled\{name="AllBeta",stage="BETA"\} 0$/m,
    /^tubelet_event_loop_lag_seconds_count 0$/m,
    /^process_start_time_seconds /m,
  ]) {
    assert.match(page, line);
  }
  assert.doesNotMatch(page, /stage="OTHER"/);
  assert.match(probes.render(), /^process_start_time_seconds /m);
});
