import type { BackoffLimits } from '../base/backoff.ts';
import type { CommonPorts } from '../model/common-ports.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Tracer } from '../base/tracing.ts';
import type { PodUid } from '../base/ids.ts';
import type { AdmissionNode } from '../model/admission-node.ts';
import type { Decisions } from '../model/decisions.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { HostDns } from '../model/dns.ts';
import type { RuntimeClasses } from '../model/runtime-class.ts';
import type { NodeFacts, RuntimeSettings } from '../model/runtime-settings.ts';
import type { ContainerGcDeps } from './container-gc/index.ts';
import type { LogPolicy, LogsParts } from './create-logs.ts';
import type { Files } from './directories/index.ts';
import type { LogRotationDeps } from './logs/index.ts';
import type { RuntimeEventSource, ObservableRuntime } from './pleg/index.ts';
import type { Prober } from './probes/index.ts';
import type { HookRequests, TerminationMessageFiles, PodEvents, PodRuntimeDeps, PrepareDeps } from './runtime/index.ts';
import type { PodSyncDeps } from './sync/index.ts';
import type { UserNamespacesDeps } from './userns/index.ts';

/** The neighbours of the subsystem of pods, beside stores and signals. */
export interface PodParts {
  readonly ports: PodPorts;
  readonly settings: PodSettings;
  readonly runtime: PodContainerRuntime;
  readonly host: PodHost;
  readonly node: PodNode;
  readonly objects: PodObjects;
  readonly images: PrepareDeps['images'];
  readonly volumes: PodVolumes;
  readonly subPaths: NonNullable<PrepareDeps['subPaths']>;
  readonly cgroups: PodSyncDeps['cgroups'];
}

interface PodPorts extends CommonPorts {
  readonly events: PodEvents;
  readonly decisions: Decisions;
  /** Undefined where the configuration asks for no tracing. */
  readonly tracer: Tracer | undefined;
  /** The registry of its own that probes are measured in. */
  readonly probeMetrics: Metrics;
}

/** As the configuration has it. */
export interface PodSettings {
  readonly runtime: RuntimeSettings;
  readonly resyncMs: number;
  /** The back-off of containers that crash. */
  readonly restartLimits: BackoffLimits;
  readonly logs: LogPolicy;
}

/** The container runtime, and what it can do. */
interface PodContainerRuntime {
  readonly cri: PodRuntimeDeps['runtime'] &
    ObservableRuntime &
    LogRotationDeps['runtime'] &
    ContainerGcDeps['runtime'] &
    UserNamespacesDeps['runtime'];
  /** The runtime's name: the scheme of container ids. */
  name(): string;
  /** The runtime handlers that it announces. */
  handlers(): ReadonlySet<string>;
  /** Whether sandboxes of that handler can have mounts that are read-only with all below them. */
  recursiveReadOnly(handler: string): boolean;
  /** Why pods cannot have a network of their own now. */
  networkError(): string | undefined;
  /** Streams of events for a runtime that has none of its own. */
  readonly eventSources: readonly RuntimeEventSource[];
}

/** The machine. */
export interface PodHost {
  readonly files: Files;
  readonly terminationMessages: TerminationMessageFiles;
  readonly logFiles: LogsParts['files'];
  readonly hookRequests: HookRequests;
  readonly prober: Prober;
  readonly dns: () => Promise<HostDns>;
  readonly userNamespaces: Pick<UserNamespacesDeps, 'enabled' | 'files' | 'readSpace'>;
}

/** This node, as its pods see it. */
interface PodNode {
  readonly facts: NodeFacts;
  readonly ips: () => readonly string[];
  /** As admission sees it, now. */
  readonly forAdmission: () => AdmissionNode;
}

/** What pods name. */
export interface PodObjects {
  readonly lookup: PrepareDeps['lookup'];
  /** Undefined without an API server: a class is then the handler of that name. */
  readonly runtimeClasses: RuntimeClasses | undefined;
  ready(pod: DesiredPod, signal: AbortSignal): Promise<void>;
}

type PodVolumes = PodSyncDeps['volumes'] &
  PrepareDeps['volumes'] & {
    /** Unmounts what an earlier process of the agent left mounted of a pod. */
    tearDown(uid: PodUid): Promise<void>;
  };
