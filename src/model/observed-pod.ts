import type { ContainerId, PodUid, SandboxId } from '../base/ids.ts';

/** A pod as the runtime shows it. Only pods/pleg makes it; all other rooms read it. */
export interface ObservedPod {
  readonly uid: PodUid;
  readonly name: string;
  readonly namespace: string;
  /** The moment at which the inspection began: what happened before is in it, what happened later may not be. */
  readonly observedAt: number;
  /** Newest first. */
  readonly sandboxes: readonly ObservedSandbox[];
  /** Newest first. */
  readonly containers: readonly ObservedContainer[];
}

export interface ObservedSandbox {
  readonly id: SandboxId;
  readonly attempt: number;
  readonly state: 'ready' | 'notReady';
  /** Wall time in milliseconds. */
  readonly createdAt: number;
  /** Primary address first; empty for host network and while there is none. */
  readonly ips: readonly string[];
  readonly network: 'pod' | 'node';
  /** The runtime reports network status at all; without it a missing address means nothing. */
  readonly networkKnown: boolean;
}

/**
 *  created ──> running ──> exited
 *     └───────────┴──────> unknown (the runtime lost track)
 */
export type ObservedContainerState = 'created' | 'running' | 'exited' | 'unknown';

export interface ObservedContainer {
  readonly id: ContainerId;
  readonly sandboxId: SandboxId;
  readonly name: string;
  /** The restart count under which it was made. */
  readonly attempt: number;
  readonly state: ObservedContainerState;
  /** Wall times in milliseconds; 0 while it has not happened. */
  readonly createdAt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  /** The image by its user-visible name. */
  readonly image: string;
  /** The image by its digest or id. */
  readonly imageRef: string;
  /** The container hash of the spec it was made from, in hexadecimal; empty for foreign containers. */
  readonly hash: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly logPath: string;
  /** The user it runs as, where the runtime reports it. */
  readonly user?: ObservedUser;
  /** The name of its stop signal, where the runtime reports it. */
  readonly stopSignal?: string;
  /** The limits that the kernel enforces, where the runtime reports them; 0 for what is not limited. */
  readonly held?: ObservedLimits;
}

export interface ObservedUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
}

export interface ObservedLimits {
  readonly cpuShares: bigint;
  readonly cpuQuotaUs: bigint;
  readonly cpuPeriodUs: bigint;
  readonly memoryBytes: bigint;
}
