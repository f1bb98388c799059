export type { ClaimedVolume, PersistentSource } from './claims/claimed-volume.ts';
export { noClaims, VolumeClaims, type Claims, type VolumeClaimsDeps } from './claims/volume-claims.ts';
export type { DownwardFacts } from './contents/downward-payload.ts';
export { canKeepOutOfSwap, type MemoryFacts } from './contents/medium.ts';
export { noTokens, noTrust, type TokenSource, type TrustSource, type VolumeTokens } from './credential-ports.ts';
export { OneAtATime } from './one-at-a-time.ts';
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
  CsiDevices,
  CsiVolumes,
  FileFacts,
  HostPaths,
  KeptFile,
  MountedVolume,
  MountPrograms,
  Mounts,
  MountWish,
  VolumeEvents,
  VolumeHost,
  VolumeImages,
  VolumeObjects,
  VolumePlace,
  VolumePlugin,
  VolumeRequest,
} from './ports.ts';
export { ScratchFolders } from './scratch-folders.ts';
export { SubPaths, type SubPath } from './sub-paths.ts';
export { VolumeManager, type VolumeManagerDeps } from './volume-manager.ts';
export { imageVolumeMetrics, type VolumeCount } from './volume-metrics.ts';
export { VolumesInUse } from './volumes-in-use.ts';
export { WrittenVolumes } from './written-volumes.ts';
