import type { CallOptions } from '../../base/call.ts';
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
