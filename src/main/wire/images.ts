import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import { systemRandom } from '../../base/system-random.ts';
import type { Settings } from '../../config/index.ts';
import { atomicWrite, hostFiles, pluginRunner, providerFiles } from '../../host/index.ts';
import {
  announceProviders,
  CredentialProvider,
  imageMetrics,
  loadProviders,
  NodeCredentials,
  nodeConfigFiles,
  PullRecords,
  RegistryCredentials,
  type ImageManagerDeps,
  type PullRecordsDeps,
  type SecretLookup,
  type VerificationPolicy,
} from '../../images/index.ts';

/** What pulling images needs besides the runtime: who we are to registries, how fast we may be, who may use what. */
export interface ImagePolicy {
  readonly extras: (secrets: SecretLookup) => Omit<ImageManagerDeps, 'clock' | 'service' | 'events' | 'parallelPulls'>;
  /** Starts before anything pulls. */
  readonly records?: PullRecords;
}

export interface ImagePolicyDeps {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly service: PullRecordsDeps['service'];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Reads the configuration of credential plugins; what is wrong with it is an error that names every fault. */
export async function imagePolicy(deps: ImagePolicyDeps): Promise<ImagePolicy> {
  const { settings, clock, log, metrics, env } = deps;
  const { config, flags, featureGates } = settings;
  const measured = imageMetrics(metrics);
  const binDir = flags.imageCredentialProviderBinDir;
  const loaded = await loadProviders({ config: flags.imageCredentialProviderConfig, binDir }, providerFiles, {
    serviceAccountTokens: featureGates.enabled('KubeletServiceAccountTokenForCredentialProviders'),
  });
  if (loaded !== undefined) announceProviders(metrics, loaded.hash);
  const runner = pluginRunner({ clock, environment: env });
  const providers = (loaded?.providers ?? []).map(
    (provider) => new CredentialProvider({ clock, log, config: provider, binDir, runner, metrics: measured }),
  );
  const places = { rootDir: flags.rootDir, workingDir: process.cwd(), homeDir: env['HOME'] ?? '' };
  const node = new NodeCredentials({ files: hostFiles, log, candidates: nodeConfigFiles(places) });
  const records = featureGates.enabled('KubeletEnsureSecretPulledImages') ? pullRecords(deps) : undefined;
  return {
    extras: (secrets) => ({
      credentials: new RegistryCredentials({ secrets, node, providers }),
      metrics: measured,
      pullRate: { perSecond: config.registryPullQPS, burst: config.registryBurst },
      ...(records && { records }),
    }),
    ...(records && { records }),
  };
}

function pullRecords({ settings, clock, log, service }: ImagePolicyDeps): PullRecords {
  const { config, flags } = settings;
  const random = systemRandom();
  return new PullRecords({
    clock,
    log,
    service,
    rootDir: flags.rootDir,
    files: { ...hostFiles, writeAtomic: (path, content, mode) => atomicWrite(path, content, { mode, random }) },
    rule: {
      policy: config.imagePullCredentialsVerificationPolicy as VerificationPolicy,
      allowlist: config.preloadedImagesVerificationAllowlist,
    },
  });
}
