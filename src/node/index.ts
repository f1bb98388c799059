export type { AdmissionNode, AdmissionNodeSettings } from './admission-node.ts';
export { createNode, type NodeDeps, type NodeParts, type NodeReportSettings } from './create-node.ts';
export { createNodeView, type NodeViewDeps, type NodeViews } from './create-node-view.ts';
export type { StorageDriver } from './csinode/compute-drivers.ts';
export { readFormerDevices, type DeviceCheckpoint, type FormerDevices } from './former-devices.ts';
export { createNodeSignals, type NodeSignals } from './node-signals.ts';
export { NodeStartup, type NodeStartupDeps, type ProgramStart } from './node-startup.ts';
export type { NodeReader } from './node-view.ts';
export { OwnNode, type OwnNodeDeps } from './own-node.ts';
export type {
  HostIdentity,
  HostInterface,
  HostNetwork,
  KernelFacts,
  NodeCluster,
  NodeDiff,
  NodeEvent,
  NodeEvents,
  NodeHost,
  NodeMirror,
  RuntimeNetwork,
  RuntimeReader,
} from './ports.ts';
export type { NodeSettings } from './settings.ts';
export { setupFailedEvent, startEvents, type LastRunFacts, type StartFacts } from './start-events.ts';
export type { NodeSources } from './status/gather-inputs.ts';
export type { PlegHealth, RuntimeFactsView, StorageReadiness, VolumesInUse } from './status/node-sources.ts';
export type { NodeDevices, NodePressure, RuntimeHandlerInfo } from './status/setter.ts';
