import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultBackoffLimits } from '../../base/backoff.ts';
import { noDecisions } from '../../testing/no-decisions.ts';
import { Registry } from '../../telemetry/index.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { goldenSettings } from '../../testing/golden.ts';
import { hooksOn } from '../../testing/hooks.ts';
import { MemoryEvents } from '../../testing/memory-events.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { observe } from '../../testing/observe.ts';
import { aContainer, anInstance, aPod } from '../../testing/pods.ts';
import { PodRuntime } from './pod-runtime.ts';
import { RestartBackoff } from './restart-backoff.ts';
import { runtimeMetrics } from './runtime-metrics.ts';
import { StartErrors } from './start-errors.ts';
import { stopContainer } from './stop-container.ts';

const never = new AbortController().signal;

test('sandboxes are timed by handler, and those that fail are counted', async () => {
  const [clock, registry] = [new FakeClock(), new Registry()];
  const cri = createFakeCri({ clock });
  const runtime = new PodRuntime({
    runtimeHandlers: () => new Set<string>(),
    networkError: () => undefined,
    userNamespaces: { blockFor: async () => undefined },
    volumes: { extraGroups: () => [] },
    exitEventsReliable: () => false,
    clock,
    log: new MemoryLog(),
    decisions: noDecisions,
    runtime: cri,
    events: new MemoryEvents(),
    errors: new StartErrors(),
    backoff: new RestartBackoff({ clock, limits: defaultBackoffLimits }),
    hooks: hooksOn(clock, cri).hooks,
    prune: () => ({ containers: [], sandboxes: [] }),
    logs: { remove: async () => {} },
    probes: { liveness: () => 'success', startup: () => 'success' },
    prepare: async () => ({ refusal: { reason: 'x', message: 'x' } }),
    settings: goldenSettings,
    hostDns: async () => ({ servers: [], searches: [], options: [] }),
    hostIps: () => [],
    metrics: registry,
  });
  const pod = aPod();
  cri.faults.fail('runPodSandbox', 'unavailable', { times: 1 });
  await assert.rejects(runtime.sync(pod, await observe(cri, pod), never));
  await runtime.sync(pod, await observe(cri, pod), never);
  const page = registry.render();
  assert.match(page, /^kubelet_run_podsandbox_duration_seconds_count\{runtime_handler=""\} 2$/m);
  assert.match(page, /^kubelet_run_podsandbox_errors_total\{runtime_handler=""\} 1$/m);
  assert.match(page, /^kubelet_started_pods_errors_total 1$/m);
});

test('a pause that outlasts the grace is counted, one that does not is not', async () => {
  const registry = new Registry();
  const started = runtimeMetrics(registry);
  const cutShort = (): string | undefined =>
    /^kubelet_sleep_action_terminated_early_total (.*)$/m.exec(registry.render())?.[1];
  for (const [seconds, expected] of [
    [1, '0'],
    [9, '1'],
  ] as const) {
    const clock = new FakeClock();
    const cri = createFakeCri({ clock });
    const pod = aPod({
      spec: { containers: [aContainer('main', { lifecycle: { preStop: { sleep: { seconds } } } })] },
    });
    const stopped = stopContainer(
      { ...hooksOn(clock, cri), runtime: cri, log: new MemoryLog(), events: new MemoryEvents(), started },
      pod,
      anInstance('main', { id: 'gone' }),
      { graceSeconds: 3, podIp: '', signal: never },
    );
    await clock.advance(10_000);
    await stopped;
    assert.equal(cutShort(), expected);
  }
});
