import type { CallOptions } from '../../base/call.ts';
import type { PodUid } from '../../base/ids.ts';
import type {
  ContainerStatusRequest,
  ContainerStatusResponse,
  CreateContainerRequest,
  CreateContainerResponse,
  PodSandboxConfig,
  PodSandboxStatusRequest,
  PodSandboxStatusResponse,
  RemoveContainerRequest,
  RemovePodSandboxRequest,
  RunPodSandboxRequest,
  RunPodSandboxResponse,
  StartContainerRequest,
  StopContainerRequest,
  StopPodSandboxRequest,
} from '../../gen/cri/api.ts';
import type { Container } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { UserNamespaceBlock } from '../../model/namespaces.ts';
import type { PodEvent } from '../../model/object-event.ts';
import type { PresentImage } from '../../model/present-image.ts';
import type { Refusable } from '../../model/refusal.ts';
import type { MountedVolume, SubPathMount } from './compute-mounts.ts';

/** The verbs on sandboxes. */
export interface SandboxRuntime {
  runPodSandbox(request: RunPodSandboxRequest, options?: CallOptions): Promise<RunPodSandboxResponse>;
  podSandboxStatus(request: PodSandboxStatusRequest, options?: CallOptions): Promise<PodSandboxStatusResponse>;
  stopPodSandbox(request: StopPodSandboxRequest, options?: CallOptions): Promise<unknown>;
  removePodSandbox(request: RemovePodSandboxRequest, options?: CallOptions): Promise<unknown>;
}

/** The verbs on containers. */
export interface ContainerRuntime {
  createContainer(request: CreateContainerRequest, options?: CallOptions): Promise<CreateContainerResponse>;
  startContainer(request: StartContainerRequest, options?: CallOptions): Promise<unknown>;
  stopContainer(request: StopContainerRequest, options?: CallOptions): Promise<unknown>;
  removeContainer(request: RemoveContainerRequest, options?: CallOptions): Promise<unknown>;
  containerStatus(request: ContainerStatusRequest, options?: CallOptions): Promise<ContainerStatusResponse>;
}

export interface Images {
  ensure(
    pod: DesiredPod,
    container: Container,
    fieldPath: string,
    signal: AbortSignal,
    context?: { readonly sandboxConfig?: PodSandboxConfig },
  ): Promise<Refusable<PresentImage>>;
}

export interface Volumes {
  /** Volume name → where it is on the host, for every volume the pod uses. Mounted before any container starts. */
  mounted(uid: PodUid): ReadonlyMap<string, MountedVolume>;
  /** Groups that own volumes of the pod. */
  extraGroups(pod: DesiredPod): readonly number[];
}

/** Parts of volumes, made ready before the container that gets them. */
export interface SubPaths {
  /** Binds one to its target, safe from processes that write into the volume meanwhile. A failure's message is for people. */
  bind(
    uid: PodUid,
    part: Pick<SubPathMount, 'volumePath' | 'subPath' | 'values' | 'target'> & {
      readonly mountName: string;
      readonly container: string;
    },
  ): Promise<void>;
}

export interface UserNamespaces {
  /** The host ids of a pod with a user namespace, in a sandbox of that handler. Throws when it cannot have them. */
  blockFor(pod: DesiredPod, handler: string, signal: AbortSignal): Promise<UserNamespaceBlock | undefined>;
}

/** The few files the agent keeps for containers. */
export interface ContainerFiles {
  /** Writes the pod's hosts file; answers its path. */
  writeHosts(uid: PodUid, content: string): Promise<string>;
  /** Makes the folder of a container's own files. */
  makeContainerFolder(uid: PodUid, container: string): Promise<void>;
  /** Makes an empty file for the termination message, in that folder; answers its path. */
  makeTerminationLog(uid: PodUid, container: string): Promise<string>;
  /** Makes the folder of a container's logs; answers the highest restart count that has logs there, if any. */
  prepareLogs(pod: DesiredPod, container: string): Promise<number | undefined>;
  /** The node's own hosts file. */
  readNodeHosts(): Promise<string>;
}

/** What happened to a pod, for people: becomes an API event where there is an API server. */
export interface PodEvents {
  record(pod: DesiredPod, event: PodEvent): void;
}
