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
export { cgroupHierarchies, removeCgroup, type CgroupHierarchy, type CgroupRemoval } from './pod-cgroups.ts';
export { safeRemove, type SafeRemoveOptions } from './safe-remove.ts';
export { serviceNotifier, watchdogTimeoutMs, type NotifyEnvironment, type ServiceNotifier } from './sd-notify.ts';
export { hostFiles } from './files.ts';
export { outwardAddresses, readMachine, type Machine } from './machine.ts';
