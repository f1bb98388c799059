import type { CallOptions } from '../base/call.ts';
import type { PodFullName, PodUid } from '../base/ids.ts';
import type { Metrics } from '../base/metrics.ts';
import type { ContainerStatusRequest, ContainerStatusResponse } from '../gen/cri/api.ts';
import type { Pod, PodStatus } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { ObservedPod } from '../model/observed-pod.ts';
import type { Summary } from '../model/stats-summary.ts';
import type { MachineFacts } from '../model/usage.ts';
import type { StreamingRuntime } from './streaming/ports.ts';

/** The files of unix sockets. Failures are TubeletErrors. */
export interface SocketFiles {
  /** Makes a folder and those above it; one that is there stays as it is. */
  makeFolder(path: string, mode: number): Promise<void>;
  /** Removes a socket that a process left behind. False where something else is there, which stays. */
  removeSocket(path: string): Promise<boolean>;
  /** Removes whatever file has that name; one that is not there is fine. */
  removeFile(path: string): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
}

/** The log, as far as clients may ask for its problems and set its verbosity. */
export interface LogControl {
  /** Why the lines written last did not arrive; nothing when they did. */
  problem(): string | undefined;
  setVerbosity(level: number): void;
}

/** The registries of what the agent counts itself: its own, that of probes, that of health checks. */
export interface MetricsRegistries {
  readonly agent: { page(): Promise<string> };
  readonly probes: { page(): Promise<string> };
  readonly slis: Metrics & { render(): string };
}

/** The metrics pages that are read from the machine when a client asks. */
export interface UsagePages {
  cadvisor(signal: AbortSignal): AsyncIterable<string>;
  resource(signal: AbortSignal): Promise<string>;
}

/** What pods this node has, as clients see them. */
export interface PodsView {
  /** Every pod that the sources name, with the status the agent sees. */
  pods(): readonly Pod[];
  /** Every pod of which the runtime has anything, as last seen. */
  seen(): readonly ObservedPod[];
  /** What could not be removed of removed pods, and why. */
  stuck(): readonly LeftPod[];
}

export interface LeftPod {
  readonly uid: string;
  readonly why: string;
  /** Wall milliseconds of the first failure for this reason. */
  readonly since: number;
}

export interface ActivePods {
  /** Desired here and not ended. */
  activePods(): readonly DesiredPod[];
}

export interface DesiredView {
  /** The pods under a full name, the newest last. */
  named(fullName: PodFullName): readonly DesiredPod[];
}

export interface StatusesView {
  get(uid: PodUid): PodStatus | undefined;
}

/** What the runtime has of a pod. */
export interface ObservedView {
  /** What is known, if it was observed after that moment and is not known to be out of date; else asked of the runtime. */
  newerThan(uid: PodUid, moment: number, signal: AbortSignal): Promise<ObservedPod>;
  inspect(uid: PodUid, signal: AbortSignal): Promise<ObservedPod>;
}

export interface StatsView {
  summary(options: { readonly onlyCpuAndMemory: boolean }, signal: AbortSignal): Promise<Summary>;
  machine(): MachineFacts;
}

/** The runtime, for sessions and for the logs of containers. */
export interface ServerRuntime extends StreamingRuntime {
  containerStatus(request: ContainerStatusRequest, options?: CallOptions): Promise<ContainerStatusResponse>;
}

/** What the health page asks besides the log. */
export interface HealthFacts {
  /** The monotonic moment at which the sync loop last came round; nothing before its first round. */
  lastSyncRound(): number | undefined;
  /** What is wrong with the device plugins. */
  devicePluginProblem(): string | undefined;
}
