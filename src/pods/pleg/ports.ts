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

/** What a container or sandbox is said to have become; each comes after the one before, and none comes back. */
export type HintedState = 'created' | 'running' | 'exited' | 'gone';

/** Word that something happened. It is never relied upon: it only says where to look, and when looking is vain. */
export interface Hint {
  /** Of a container or a sandbox. */
  readonly containerId?: string;
  readonly uid?: PodUid;
  readonly state?: HintedState;
  /** The word may come before the runtime's own answers show it: who looks at once may see the old state. */
  readonly ahead?: boolean;
  /** When it happened, as the runtime says, in wall time. */
  readonly at?: number;
}

export interface HintStream {
  /** In the words of a log line: `CRI`, `containerd`. */
  readonly name: string;
  /** Hints from the call on. Throws kind `unsupported` where there is no such stream. */
  hints(signal: AbortSignal): AsyncIterable<Hint>;
}

/** What happens below CRI, as containerd's own event service tells it. */
export interface LowLevelEvents {
  events(signal: AbortSignal): AsyncIterable<LowLevelEvent>;
}

export interface LowLevelEvent {
  readonly kind: 'created' | 'started' | 'exited' | 'oom' | 'removed';
  readonly containerId: string;
  readonly at?: number;
}
