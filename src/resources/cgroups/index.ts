export { AgentCgroup, type AgentCgroupDeps } from './agent-cgroup.ts';
export { cgroupOwner, type CgroupOwner } from './cgroup-owner.ts';
export { nodeCgroupSettings, podCgroupSettings, qosSettings, type CgroupSettings } from './cgroup-settings.ts';
export { CgroupVersionCheck } from './cgroup-version-check.ts';
export { CgroupWriter, type CgroupWriterDeps } from './cgroup-writer.ts';
export { allPodsValues, reservedCgroups, type NodeCgroupSettings, type ReservedCgroup } from './node-cgroup-values.ts';
export { NodeCgroups, type NodeCgroupsDeps } from './node-cgroups.ts';
export { podCgroupValues, type PodCgroupSettings } from './pod-cgroup-values.ts';
export { noPodCgroups } from './no-pod-cgroups.ts';
export { PodCgroups, type PodCgroupsDeps } from './pod-cgroups.ts';
export type {
  CgroupPods,
  CgroupTree,
  NodeEvents,
  PodContainerManager,
  ProcessTree,
  RemoveEmpty,
  TreeRemoval,
} from './ports.ts';
export {
  podDemand,
  qosCgroupValues,
  type PodDemand,
  type QosCgroupValues,
  type QosSettings,
} from './qos-cgroup-values.ts';
export { QosTiers, type QosTiersDeps } from './qos-tiers.ts';
export { SystemdSlices } from './systemd-slices.ts';
