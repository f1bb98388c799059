export { NodeCredentials, nodeConfigFiles, type NodeConfigPlaces } from './credentials/node-config.ts';
export { RegistryCredentials, type RegistryCredentialsDeps } from './credentials/registry-credentials.ts';
export { announceProviders, imageMetrics, type ImageMetrics } from './image-metrics.ts';
export { ImageManager, type ImageManagerDeps, type PullContext } from './image-manager.ts';
export type { ProviderFiles, RecordFiles, SecretLookup, ServiceAccounts } from './ports.ts';
export { CredentialProvider, type CredentialProviderDeps } from './providers/credential-provider.ts';
export { loadProviders, type LoadedProviders } from './providers/load-providers.ts';
export { PullRecords, type PullRecordsDeps } from './records/pull-records.ts';
export type { VerificationPolicy, VerificationRule } from './records/verification.ts';
