export { NodeCredentials, nodeConfigFiles, type NodeConfigPlaces } from './credentials/node-config.ts';
export {
  noCredentials,
  RegistryCredentials,
  type RegistryCredentialsDeps,
} from './credentials/registry-credentials.ts';
export { announceProviders, imageMetrics, noImageMetrics, type ImageMetrics } from './image-metrics.ts';
export { ImageManager, type ImageManagerDeps, type PullContext } from './image-manager.ts';
export type {
  ImageEvents,
  ImageService,
  PluginRunner,
  ProviderFiles,
  PullWaits,
  RecordFiles,
  SecretLookup,
  ServiceAccounts,
} from './ports.ts';
export { CredentialProvider, type CredentialProviderDeps } from './providers/credential-provider.ts';
export { loadImageProviders, type LoadedProviders, type ProviderPlaces } from './providers/load-providers.ts';
export { noPullRecords, type PullAccess } from './records/pull-access.ts';
export { PullRecords, type PullRecordsDeps } from './records/pull-records.ts';
export type { VerificationPolicy, VerificationRule } from './records/verification.ts';
export { volumeImages, type VolumeImages } from './volume-images.ts';
