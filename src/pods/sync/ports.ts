import type { PodUid } from '../../base/ids.ts';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import type { DecidedEnd, RuntimeOutcome, StatusInput } from '../../model/sync-outcome.ts';

export interface Observations {
  /** The number of the last observation; one with a higher number saw what was done until now. */
  observationSeq(): number;
  newerThan(uid: PodUid, since: number, signal: AbortSignal): Promise<ObservedPod>;
}

/** The actors on sandboxes and containers. */
export interface Runtime {
  needsSandbox(pod: DesiredPod, observed: ObservedPod): boolean;
  sync(pod: DesiredPod, observed: ObservedPod, signal: AbortSignal): Promise<RuntimeOutcome>;
  stop(pod: DesiredPod | undefined, observed: ObservedPod, graceSeconds: number, signal: AbortSignal): Promise<void>;
}

export interface Volumes {
  /** Rejects while a volume that the pod uses is not ready; an event of the pod says by then what is wrong with it. */
  mount(pod: DesiredPod, signal: AbortSignal): Promise<void>;
  unmount(pod: DesiredPod): Promise<void>;
}

export interface Directories {
  prepare(uid: PodUid): Promise<void>;
}

export interface Cgroups {
  /** Whether the pod has a cgroup, so that what runs of it runs in there. */
  exist(pod: DesiredPod): boolean;
  /** Makes the pod's cgroup with its limits, where it is not there yet. */
  ensure(pod: DesiredPod): Promise<void>;
  /** Removes the pod's cgroups, wherever its QoS class put them. */
  remove(uid: PodUid): Promise<void>;
}

/** How long a pod may be active. */
export interface Deadlines {
  /** Why the pod must end now, or how long until it must; nothing without a deadline. */
  check(pod: DesiredPod, status: PodStatus): { readonly end?: DecidedEnd; readonly inMs?: number };
}

/** Computes a status from what is observed, and publishes it. */
export interface Statuses {
  publish(input: StatusInput): PodStatus;
  /** Whether something is known by now that a later status has to report. */
  statusPending(uid: PodUid): boolean;
  /** Publishes the last status of a pod of which nothing is left. */
  finish(pod: DesiredPod): void;
}

export interface Events {
  record(pod: DesiredPod, event: ObjectEvent): void;
}

/** Probing follows the pod's life. */
export interface Probing {
  /** Begins to probe the pod's containers; without effect when they are probed already. */
  addPod(pod: DesiredPod): void;
  /** Containers that are being stopped must not be killed for being unhealthy; readiness is probed further. */
  stopLivenessAndStartup(uid: PodUid): void;
  removePod(uid: PodUid): void;
}

/** ConfigMaps and Secrets of the pod, kept at hand from its first sync on. */
export interface Objects {
  ready(pod: DesiredPod, signal: AbortSignal): Promise<void>;
}
