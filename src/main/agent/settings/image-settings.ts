import type { Settings } from '../../../config/index.ts';
import type { ImageSettings } from '../../../images/create-images.ts';
import type { ProviderPlaces, VerificationPolicy } from '../../../images/index.ts';

/** The configuration of image pulls. */
export function imageSettings(
  { config, flags, featureGates }: Settings,
  process: { readonly workingDir: string; readonly homeDir: string },
): ImageSettings {
  return {
    parallelPulls: config.serializeImagePulls ? 1 : (config.maxParallelImagePulls ?? Number.POSITIVE_INFINITY),
    pullRate: { perSecond: config.registryPullQPS, burst: config.registryBurst },
    nodeConfigPlaces: { rootDir: flags.rootDir, ...process },
    providerBinDir: flags.imageCredentialProviderBinDir,
    pullRecords: featureGates.enabled('KubeletEnsureSecretPulledImages')
      ? {
          policy: config.imagePullCredentialsVerificationPolicy as VerificationPolicy,
          allowlist: config.preloadedImagesVerificationAllowlist,
        }
      : undefined,
  };
}

/** Where credential plugins are configured, and what they may be given. */
export function providerSettings({ flags, featureGates }: Settings): {
  readonly places: ProviderPlaces;
  readonly options: { readonly serviceAccountTokens: boolean };
} {
  const { imageCredentialProviderConfig: config, imageCredentialProviderBinDir: binDir } = flags;
  const serviceAccountTokens = featureGates.enabled('KubeletServiceAccountTokenForCredentialProviders');
  return { places: { config, binDir }, options: { serviceAccountTokens } };
}
