import type { Node, NodeFeatures, NodeStatus, NodeSystemInfo } from '../../gen/kubernetes/types.ts';
import type { HostIdentity, HostNetwork } from '../../model/host-facts.ts';
import type { Amounts } from '../../model/node-allocatable.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import type { NodeSettings } from '../settings.ts';

/** All inputs of a node's status, at one moment. Unknown inputs are missing. */
export interface NodeInputs {
  readonly settings: NodeSettings;
  readonly identity?: HostIdentity;
  readonly network: HostNetwork;
  /** The addresses that the node's name resolves to. */
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
  /** Undefined until the volumes of a former life have been reconstructed. */
  readonly volumesInUse?: readonly string[];
  /** Whether the previous status was unschedulable. */
  readonly wasUnschedulable: boolean;
}

export interface NodeDevices {
  readonly capacity: Amounts;
  /** Amounts of healthy devices. */
  readonly allocatable: Amounts;
  /** Resources whose plugin was removed. */
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

/** The result of one setter. A problem is logged; the other setters still run. */
export interface SetterOutcome {
  readonly node: Node;
  readonly events?: readonly ObjectEvent[];
  readonly problem?: string;
}

/** Pure: fields that it does not set stay. `time` is now, in the format of the API. */
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

/** The event of a node's transition. */
export function statusEvent(nodeName: string, reason: string): ObjectEvent {
  return { type: 'Normal', reason, message: `Node ${nodeName} status is now: ${reason}` };
}
