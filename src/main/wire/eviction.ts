import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { Settings } from '../../config/index.ts';
import type { Decisions } from '../../model/decisions.ts';
import { LocalStorageEviction, type StorageMeter } from '../../eviction/index.ts';
import type { PodMachine } from './pod-machine.ts';

export interface EvictionWiring {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly pods: Pick<PodMachine, 'activePods' | 'views' | 'tell'>;
  readonly meter: StorageMeter;
  readonly decisions: Decisions;
}

/** Who sees to it that pods keep to their limits of local storage; nobody where the node does not count it. */
export function wireEviction(wiring: EvictionWiring): readonly Component[] {
  const { settings, clock, random, log, heartbeats, metrics, pods, meter, decisions } = wiring;
  if (!settings.config.localStorageCapacityIsolation) return [];
  const eviction = new LocalStorageEviction({
    clock,
    random,
    log,
    heartbeats,
    metrics,
    meter,
    decisions,
    pods: {
      active: () => pods.activePods.activePods(),
      terminate: (uid, how) => pods.views.terminate(uid, how),
    },
    events: { record: ({ uid }, event) => pods.tell(uid, event) },
  });
  return [eviction];
}
