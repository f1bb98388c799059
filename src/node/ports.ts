import type { CallOptions } from '../base/call.ts';
import type { WorkQueueMetrics } from '../base/keyed-work.ts';
import type {
  ListImagesRequest,
  ListImagesResponse,
  UpdateRuntimeConfigRequest,
  UpdateRuntimeConfigResponse,
  VersionRequest,
  VersionResponse,
} from '../gen/cri/api.ts';
import type { Node } from '../gen/kubernetes/types.ts';
import type { ApiClient, Mirror, MirrorChange } from '../model/api-client.ts';
import type { HostIdentity, HostNetwork } from '../model/host-facts.ts';
import type { Amounts } from '../model/node-allocatable.ts';
import type { ObjectEvent } from '../model/object-event.ts';

/** Events about this node. Their object is the node by name, and its uid is the name too. */
export interface NodeEvents {
  record(event: ObjectEvent): void;
}

/** The machine under the node. */
export interface NodeHost {
  identity(): Promise<HostIdentity>;
  network(): HostNetwork;
  /** The addresses of a host name; fails when no resolver answered. */
  lookup(name: string): Promise<readonly string[]>;
  /** cpu, memory in bytes, huge pages by size in bytes. */
  capacity(): Amounts;
  swapBytes(): bigint;
  /** Size of the file system that holds the agent's folder. */
  rootFsBytes(): Promise<bigint>;
}

/** Of the container runtime: its version and its images. */
export interface RuntimeReader {
  version(request: VersionRequest, options?: CallOptions): Promise<VersionResponse>;
  listImages(request: ListImagesRequest, options?: CallOptions): Promise<ListImagesResponse>;
}

export interface RuntimeNetwork {
  updateRuntimeConfig(request: UpdateRuntimeConfigRequest, options?: CallOptions): Promise<UpdateRuntimeConfigResponse>;
}

/** The patch that turns one node into another; undefined when they are equal. */
export type NodeDiff = (from: Node, to: Node) => unknown;

/** The cluster that the node is part of. */
export interface NodeCluster {
  readonly api: Pick<ApiClient, 'get' | 'create' | 'update' | 'patch'> & {
    /** Connections may be half dead without an error: replaces them. */
    reset(): void;
  };
  /** The API server's object of this node. */
  readonly mirror: NodeMirror;
  readonly watch: WorkQueueMetrics;
}

interface NodeMirror extends Pick<Mirror<Node>, 'get'> {
  listen(listener: (change: MirrorChange<Node>) => void): void;
}
