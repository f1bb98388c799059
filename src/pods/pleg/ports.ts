import type { CallOptions } from '../../base/call.ts';
import type { PodUid } from '../../base/ids.ts';
import type {
  ContainerEventResponse,
  ContainerStatusRequest,
  ContainerStatusResponse,
  ListContainersRequest,
  ListContainersResponse,
  ListPodSandboxRequest,
  ListPodSandboxResponse,
  PodSandboxStatusRequest,
  PodSandboxStatusResponse,
} from '../../gen/cri/api.ts';

/** What observing needs of the runtime: nothing here changes anything. */
export interface ObservableRuntime {
  listPodSandbox(request: ListPodSandboxRequest, options?: CallOptions): Promise<ListPodSandboxResponse>;
  listContainers(request: ListContainersRequest, options?: CallOptions): Promise<ListContainersResponse>;
  podSandboxStatus(request: PodSandboxStatusRequest, options?: CallOptions): Promise<PodSandboxStatusResponse>;
  containerStatus(request: ContainerStatusRequest, options?: CallOptions): Promise<ContainerStatusResponse>;
  /** Ends or throws kind `unsupported` where the runtime has no event stream. */
  containerEvents(signal: AbortSignal): AsyncIterable<ContainerEventResponse>;
}

/** What an event says a container or sandbox has become; each state comes after the one before, and none comes back. */
export type EventState = 'created' | 'running' | 'exited' | 'removed';

/** A hint that something happened. It is never relied upon: it only says which pod to inspect, and when to wait. */
export interface RuntimeEvent {
  /** Of a container or a sandbox. */
  readonly containerId?: string;
  readonly uid?: PodUid;
  readonly state?: EventState;
  /** The event may come before the runtime's own answers show it: an inspection made at once may see the old state. */
  readonly unconfirmed?: boolean;
  /** When it happened, as the runtime says, in wall time. */
  readonly at?: number;
}

export interface RuntimeEventSource {
  /** As log lines name it: `CRI`, `containerd`. */
  readonly name: string;
  /** Events from the call on. Throws kind `unsupported` where there is no such stream. */
  events(signal: AbortSignal): AsyncIterable<RuntimeEvent>;
}

/** What happens below CRI, as containerd's own event service reports it. */
export interface LowLevelEvents {
  events(signal: AbortSignal): AsyncIterable<LowLevelEvent>;
}

export interface LowLevelEvent {
  readonly kind: 'created' | 'started' | 'exited' | 'oom' | 'removed';
  readonly containerId: string;
  readonly at?: number;
}
