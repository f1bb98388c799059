export { AgentCgroup, type AgentCgroupDeps } from './agent-cgroup.ts';
export { CgroupWriter, type CgroupWriterDeps } from './cgroup-writer.ts';
export { allPodsValues, reservedCgroups, type NodeCgroupSettings, type ReservedCgroup } from './node-cgroup-values.ts';
export { NodeCgroups, type NodeCgroupsDeps } from './node-cgroups.ts';
export { podCgroupValues, type PodCgroupSettings } from './pod-cgroup-values.ts';
export { PodCgroups, type PodCgroupsDeps } from './pod-cgroups.ts';
export type { CgroupTree, NodeEvents, Pods, ProcessTree, TreeRemoval } from './ports.ts';
export {
  podDemand,
  qosCgroupValues,
  type PodDemand,
  type QosCgroupValues,
  type QosSettings,
} from './qos-cgroup-values.ts';
export { QosTiers, type QosTiersDeps } from './qos-tiers.ts';
