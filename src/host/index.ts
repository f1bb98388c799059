export { atomicWrite, type AtomicWriteOptions } from './atomic-write.ts';
export { acquireFileLock, type FileLock, type FileLockOptions } from './file-lock.ts';
export { watchContention, type Contention, type ContentionWatch } from './lock-contention.ts';
export {
  isMountPointOrContains,
  mountsAtOrBelow,
  parseMountInfo,
  readMountInfo,
  type MountEntry,
} from './mountinfo.ts';
export { HostProcessTree, type HostProcessTreeOptions } from './process-tree.ts';
export { openCgroups, type OpenCgroups } from './open-cgroups.ts';
export { HostCgroups, type CgroupEnd, type HostCgroupsOptions } from './cgroup-tree.ts';
export { cgroupHierarchies, removeCgroup, type CgroupHierarchy, type CgroupRemoval } from './pod-cgroups.ts';
export { safeRemove, type SafeRemoveOptions } from './safe-remove.ts';
export { serviceNotifier, watchdogTimeoutMs, type NotifyEnvironment, type ServiceNotifier } from './sd-notify.ts';
export { hostFiles } from './files.ts';
export { pluginRunner, providerFiles, type PluginCall } from './credential-plugins.ts';
export { recordFiles } from './record-files.ts';
export { registryFiles } from './plugin-registry-files.ts';
export { outwardAddresses, readMachine, type Machine } from './machine.ts';
export { deviceCheckpoint, type DeviceCheckpoint } from './device-checkpoint.ts';
export { nodeCapacity } from './node-capacity.ts';
export {
  nodeHost,
  readKernelFacts,
  readProgramStart,
  type KernelFacts,
  type NodeHost,
  type NodeHostOptions,
  type ProgramStart,
} from './node-host.ts';
export { readNodeInfo, type NodeInfo, type NodeInfoOptions } from './node-info.ts';
export { lookupAddresses, readNodeNetwork, type NodeNetwork } from './node-network.ts';
export { mountPrograms, type MountProgramsOptions } from './mount-programs.ts';
export { HostBlockDevices } from './block-devices.ts';
export { ForeignStorage, type ForeignStorageDeps } from './foreign-storage.ts';
export { volumeHost, volumeHostOn } from './volume-host.ts';
export { HostVolumeDisks, type HostVolumeDisksOptions } from './volume-disks.ts';
export { hostLogFiles } from './log-files.ts';
export { nodeLogsOn } from './node-log-on-storage.ts';
export { nodeFiles } from './node-files.ts';
export { nodeHttp } from './node-http.ts';
export { nodeLogFiles } from './node-log-files.ts';
export { nodePrograms } from './node-programs.ts';
export { socketFiles } from './socket-files.ts';
export { journalRunner } from './journal-runner.ts';
export { HostCgroupUsage } from './cgroup-usage.ts';
export { KeptFiles } from './kept-files.ts';
export { HostProcUsage } from './proc-usage.ts';
export { HostDisk } from './disk-usage.ts';
export { readMachineFacts } from './machine-facts.ts';
export { processStartTicks } from './process-start.ts';
export { wasKilledForMemory, type KernelLogOptions } from './kernel-log.ts';
export { readHostDns } from './host-dns.ts';
