import type { Node, NodeFeatures, NodeStatus, NodeSystemInfo } from '../../gen/kubernetes/types.ts';
import type { Amounts } from '../../model/node-allocatable.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import type { HostIdentity, HostNetwork } from '../ports.ts';
import type { NodeSettings } from '../settings.ts';

/** Everything that a node's status is made from, as it was at one moment. What could not be learnt is not there. */
export interface NodeInputs {
  readonly settings: NodeSettings;
  readonly identity?: HostIdentity;
  readonly network: HostNetwork;
  /** What the name service says of the node's name. */
  readonly resolved: readonly string[];
  /** cpu, memory, huge pages and, where it is known, ephemeral-storage. */
  readonly capacity: Amounts;
  readonly swapBytes: bigint;
  readonly devices: NodeDevices;
  readonly runtimeVersion?: { readonly name: string; readonly version: string };
  readonly images?: readonly NodeImage[];
  readonly handlers: readonly RuntimeHandlerInfo[];
  readonly features?: NodeFeatures;
  readonly pressure: NodePressure;
  /** Why no pod should come here: of the runtime, the network, the storage, a shutdown. */
  readonly notReady: readonly string[];
  /** What the machine lacks without being unfit for pods. */
  readonly softRequirement?: string;
  /** Not there before the volumes of a former life are found again. */
  readonly volumesInUse?: readonly string[];
  /** What an earlier look at the node said. */
  readonly wasUnschedulable: boolean;
}

export interface NodeDevices {
  readonly capacity: Amounts;
  /** Those that are healthy. */
  readonly allocatable: Amounts;
  /** Resources whose plugin is gone. */
  readonly removed: readonly string[];
}

export interface NodeImage {
  readonly id: string;
  readonly digests: readonly string[];
  readonly tags: readonly string[];
  readonly sizeBytes: number;
}

export interface RuntimeHandlerInfo {
  /** Empty: the runtime's default. */
  readonly name: string;
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

export interface NodePressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

/** What one setter makes of a node. A problem is told; the others go on. */
export interface SetterOutcome {
  readonly node: Node;
  readonly events?: readonly ObjectEvent[];
  readonly problem?: string;
}

/** Pure: what it does not set stays as it was. `time` is now, as the API writes it. */
export type Setter = (node: Node, inputs: NodeInputs, time: string) => SetterOutcome;

export function withStatus(node: Node, status: Partial<NodeStatus>): Node {
  return { ...node, status: { ...node.status, ...status } };
}

const noSystemInfo: NodeSystemInfo = {
  architecture: '',
  bootID: '',
  containerRuntimeVersion: '',
  kernelVersion: '',
  kubeProxyVersion: '',
  kubeletVersion: '',
  machineID: '',
  operatingSystem: '',
  osImage: '',
  systemUUID: '',
};

export function nodeInfoOf(node: Node): NodeSystemInfo {
  return { ...noSystemInfo, ...node.status?.nodeInfo };
}

export function withNodeInfo(node: Node, info: Partial<NodeSystemInfo>): Node {
  return withStatus(node, { nodeInfo: { ...nodeInfoOf(node), ...info } });
}

/** The event that says what has become of a node. */
export function statusEvent(nodeName: string, reason: string): ObjectEvent {
  return { type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` };
}
