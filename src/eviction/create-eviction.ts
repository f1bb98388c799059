import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { PodRemoval } from '../model/pod-removal.ts';
import { LocalStorageEviction } from './local-storage-eviction.ts';
import type { ActivePods, EvictionEvents, PodTermination, StorageMeter } from './ports.ts';

interface EvictionSettings {
  /** Whether the node counts what pods take of its local storage. */
  readonly localStorageCapacityIsolation: boolean;
}

interface EvictionDeps {
  readonly ports: CommonPorts;
  readonly settings: EvictionSettings;
  readonly podRemoval: PodRemoval;
  readonly pods: ActivePods;
  readonly workers: PodTermination;
  readonly meter: StorageMeter;
  readonly events: EvictionEvents;
}

interface Eviction {
  /** They need the meter to be started. */
  readonly components: readonly Component[];
}

/** Evicts pods that exceed their limits. Without isolation of local storage its limits are not enforced. */
export function createEviction(deps: EvictionDeps): Eviction {
  const { ports, settings, podRemoval, pods, workers, meter, events } = deps;
  if (!settings.localStorageCapacityIsolation) return { components: [] };
  const localStorage = new LocalStorageEviction({ ...ports, pods, workers, meter, events });
  podRemoval.register('eviction/skipped-critical', localStorage);
  return { components: [localStorage] };
}
