export type { ClaimedVolume } from './claims/claimed-volume.ts';
export { noClaims, VolumeClaims } from './claims/volume-claims.ts';
export { canKeepOutOfSwap } from './contents/medium.ts';
export { noTokens, noTrust } from './credential-ports.ts';
export { KeyedMutex } from './keyed-mutex.ts';
export { countPods } from './pod-places.ts';
export { configMap } from './plugins/config-map.ts';
export { csi } from './plugins/csi.ts';
export { downwardApi } from './plugins/downward-api.ts';
export { emptyDir } from './plugins/empty-dir.ts';
export { hostPath } from './plugins/host-path.ts';
export { imageVolume } from './plugins/image.ts';
export { localVolume } from './plugins/local-volume.ts';
export { nfs } from './plugins/nfs.ts';
export { projected } from './plugins/projected.ts';
export { secret } from './plugins/secret.ts';
export type {
  Access,
  ContentFiles,
  CsiVolumes,
  FileFacts,
  HostPaths,
  ContentFile,
  MountPrograms,
  Mounts,
  VolumeHost,
  VolumePlugin,
} from './ports.ts';
export { ScratchFolders } from './scratch-folders.ts';
export { SubPaths } from './sub-paths.ts';
export { VolumeManager, type VolumeManagerDeps } from './volume-manager.ts';
export { imageVolumeMetrics } from './volume-metrics.ts';
export { VolumesInUse } from './volumes-in-use.ts';
export { WrittenVolumes } from './written-volumes.ts';
