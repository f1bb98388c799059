import type { CallOptions } from '../../base/call.ts';
import type { ContainerId, PodUid } from '../../base/ids.ts';
import type { ExecSyncRequest, ExecSyncResponse } from '../../gen/cri/api.ts';
import type { Container, Probe } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

/** As messages and metrics spell them. */
export type ProbeType = 'Liveness' | 'Readiness' | 'Startup';

/** The result in force for a container instance; `unknown` until its startup probe has a result. */
export type ProbeResult = 'success' | 'failure' | 'unknown';

/** What probes know of pods. Both answers may be out of date; probing again is always right. */
export interface Observations {
  get(uid: PodUid): ObservedPod | undefined;
  /** The address at which the pod answers: its own, or the node's where it shares the node's network. */
  podIp(uid: PodUid): string | undefined;
}

/** What an earlier run of the agent left behind about a container instance. */
export interface LastKnown {
  readonly ready: boolean;
  readonly started: boolean;
}

/** Runs a command in a container. */
export interface ExecRuntime {
  execSync(request: ExecSyncRequest, options?: CallOptions): Promise<ExecSyncResponse>;
}

export interface Events {
  record(pod: DesiredPod, event: ProbeEvent): void;
}

export interface ProbeEvent {
  readonly type: 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly fieldPath: string;
}

export interface ProbeMetrics {
  /** One run of a probe, retries included, with a result. */
  observe(type: ProbeType, result: 'successful' | 'failed', pod: DesiredPod, container: string, seconds: number): void;
  /** The probe ended: its series are removed. */
  forget(type: ProbeType, pod: DesiredPod, container: string): void;
}

/** One try: this probe of this instance of this container. */
export interface ProbeTarget {
  readonly pod: DesiredPod;
  readonly container: Container;
  readonly containerId: ContainerId;
  readonly probe: Probe;
  /** None while the pod has no address. */
  readonly podIp: string | undefined;
  readonly timeoutMs: number;
}

export type ProbeOutcome =
  | { readonly kind: 'success'; readonly output: string }
  /** Counts as a success, and is recorded as an event. */
  | { readonly kind: 'warning'; readonly output: string }
  /** `unanswered`: the timeout passed or the connection broke, without an answer about the container's health. */
  | { readonly kind: 'failure'; readonly output: string; readonly unanswered?: boolean }
  /** The probe itself could not be carried out. The event shows `state`. */
  | { readonly kind: 'error'; readonly error: string; readonly state: 'unknown' | 'failure' }
  /** No result, and no failure of the container. */
  | { readonly kind: 'inconclusive'; readonly reason: string };

/** Carries out one probe. Rejects only when the signal aborts. */
export type Prober = (target: ProbeTarget, signal: AbortSignal) => Promise<ProbeOutcome>;
