import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Log } from '../../base/log.ts';
import type { KubeletConfiguration } from '../../config/index.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { healthzRoutes, HttpListener, metricsRoute, podsRoute, type HealthCheck } from '../../server/index.ts';

export interface ListenersDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly config: KubeletConfiguration;
  readonly pods: () => readonly Pod[];
  readonly metrics: () => string;
  /** Those of single probes, which are many. */
  readonly probeMetrics: () => string;
  /** When the agent last saw the runtime, on the monotonic clock; undefined before the first time. */
  readonly lastSeen: () => number | undefined;
}

/** The agent counts as stuck when its loop has not come round for this long at least. */
const leastStuckMs = 5 * 60_000;

export function wireListeners(deps: ListenersDeps): readonly Component[] {
  const { config, log, clock } = deps;
  const startedAt = clock.monotonic();
  const stuckMs = Math.max(2 * config.syncFrequency.toMillis(), leastStuckMs);
  const checks: readonly HealthCheck[] = [
    { name: 'ping', check: () => undefined },
    {
      name: 'syncloop',
      check: () => {
        const idleMs = clock.monotonic() - (deps.lastSeen() ?? startedAt);
        return idleMs > stuckMs ? `no round for ${Math.round(idleMs / 1_000)} s` : undefined;
      },
    },
  ];
  const routes = [
    ...healthzRoutes(checks),
    podsRoute(deps.pods),
    metricsRoute(deps.metrics),
    metricsRoute(deps.probeMetrics, '/metrics/probes'),
  ];
  const listeners: Component[] = [];
  if (config.healthzPort > 0) {
    const { healthzBindAddress: address, healthzPort: port } = config;
    listeners.push(new HttpListener({ listener: 'healthz', address, port, routes, log }));
  }
  if (config.readOnlyPort > 0) {
    const { address, readOnlyPort: port } = config;
    listeners.push(new HttpListener({ listener: 'readOnly', address, port, routes, log }));
  }
  return listeners;
}
