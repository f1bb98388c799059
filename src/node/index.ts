export type { StorageDriver } from './csinode/compute-drivers.ts';
export { CsiNodeRecord, type CsiNodeRecordDeps } from './csinode/csi-node-record.ts';
export { NodeStartup, type NodeStartupDeps } from './node-startup.ts';
export { NodeView, type NodeViewDeps } from './node-view.ts';
export { OwnNode, type OwnNodeDeps } from './own-node.ts';
export { PodCidr, podCidrOf, type PodCidrDeps } from './pod-cidr/pod-cidr.ts';
export type {
  HostIdentity,
  HostInterface,
  HostNetwork,
  NodeDiff,
  NodeEvent,
  NodeEvents,
  NodeHost,
  RuntimeNetwork,
  RuntimeReader,
} from './ports.ts';
export { RegisterNode, type RegisterNodeDeps } from './register/register-node.ts';
export type { NodeSettings } from './settings.ts';
export { setupFailedEvent, startEvents, type LastRunFacts, type StartFacts } from './start-events.ts';
export { checkpointedResources } from './status/device-checkpoint.ts';
export type { NodeSources } from './status/gather-inputs.ts';
export { NodeStatus, type NodeStatusDeps } from './status/node-status.ts';
export type { NodeDevices, NodePressure, RuntimeHandlerInfo } from './status/setter.ts';
