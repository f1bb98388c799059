import type { CallOptions } from '../../base/call.ts';
import type { ContainerId, PodUid } from '../../base/ids.ts';
import type { ExecSyncRequest, ExecSyncResponse } from '../../gen/cri/api.ts';
import type { Container, Probe } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

/** As messages and metrics spell them. */
export type ProbeType = 'Liveness' | 'Readiness' | 'Startup';

/** What is in force about a container instance; `unknown` while its startup probe has not spoken. */
export type ProbeVerdict = 'success' | 'failure' | 'unknown';

/** What probes know of pods. Both answers are as of now and may be old; probing again is always right. */
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
  /** One run of a probe, retries included, that said something about the container. */
  observe(type: ProbeType, result: 'successful' | 'failed', pod: DesiredPod, container: string, seconds: number): void;
  /** Nothing is probed there any more. */
  forget(type: ProbeType, pod: DesiredPod, container: string): void;
}

/** One thing to find out: whether this instance of this container answers this probe. */
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
  /** Counts as a success that people should know about. */
  | { readonly kind: 'warning'; readonly output: string }
  /** `unanswered`: the time ran out or the line went dead; nothing was said about the container's health. */
  | { readonly kind: 'failure'; readonly output: string; readonly unanswered?: boolean }
  /** The probe itself could not be carried out. `state` is the word for it in the event. */
  | { readonly kind: 'error'; readonly error: string; readonly state: 'unknown' | 'failure' }
  /** Nothing was learnt, and it is nobody's fault. */
  | { readonly kind: 'inconclusive'; readonly why: string };

/** Carries out one probe. Rejects only when the signal aborts. */
export type Prober = (target: ProbeTarget, signal: AbortSignal) => Promise<ProbeOutcome>;
