import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { Rate } from '../base/token-bucket.ts';
import type { PodRemoval } from '../model/pod-removal.ts';
import {
  announceProviders,
  CredentialProvider,
  ImageManager,
  imageMetrics,
  NodeCredentials,
  nodeConfigFiles,
  noPullRecords,
  PullRecords,
  RegistryCredentials,
  volumeImages,
  type ImageEvents,
  type ImageService,
  type LoadedProviders,
  type NodeConfigPlaces,
  type PluginRunner,
  type PullWaits,
  type RecordFiles,
  type SecretLookup,
  type VerificationRule,
  type VolumeImages,
} from './index.ts';

export interface ImageSettings {
  /** How many pulls may run at once. */
  readonly parallelPulls: number;
  /** How many may begin in a time. */
  readonly pullRate: Rate;
  /** Where the node's own registry credentials may be. */
  readonly nodeConfigPlaces: NodeConfigPlaces;
  /** `--image-credential-provider-bin-dir` */
  readonly providerBinDir: string;
  /** Which pods may use images that others had pulled; unset without the gate KubeletEnsureSecretPulledImages. */
  readonly pullRecords: VerificationRule | undefined;
}

export interface ImagesWiring {
  readonly ports: CommonPorts;
  readonly signals: { readonly podRemoval: Pick<PodRemoval, 'register'> };
  readonly settings: ImageSettings;
  readonly service: ImageService;
  readonly events: ImageEvents;
  readonly secrets: SecretLookup;
  readonly files: RecordFiles;
  readonly pluginRunner: PluginRunner;
  /** What `loadImageProviders` read; unset where no plugins are configured. */
  readonly providers: LoadedProviders | undefined;
  readonly pullWaits: PullWaits;
}

export interface Images {
  /** To be started before anything pulls. */
  readonly components: readonly Component[];
  readonly images: Pick<ImageManager, 'ensure'>;
  readonly volumeImages: VolumeImages;
}

/** Pulling images: credentials for registries, limits of the rate, access to images on the node. */
export function createImages(wiring: ImagesWiring): Images {
  const { ports, signals, settings, service, files } = wiring;
  const { clock, log } = ports;
  const metrics = imageMetrics(ports.metrics);
  const node = new NodeCredentials({ files, log, candidates: nodeConfigFiles(settings.nodeConfigPlaces) });
  const credentials = new RegistryCredentials({
    secrets: wiring.secrets,
    node,
    providers: createProviders(wiring, metrics),
  });
  const { rootDir } = settings.nodeConfigPlaces;
  const rule = settings.pullRecords;
  const records = rule && new PullRecords({ clock, log, service, rootDir, files, rule });
  const images = new ImageManager({
    ...ports,
    service,
    events: wiring.events,
    parallelPulls: settings.parallelPulls,
    pullRate: settings.pullRate,
    credentials,
    records: records ?? noPullRecords,
    metrics,
    pulls: wiring.pullWaits,
  });
  signals.podRemoval.register('image-pulls', { forget: (uid) => images.forget(uid), size: () => images.size() });
  return { components: records ? [records] : [], images, volumeImages: volumeImages(images) };
}

function createProviders(
  { ports, settings, pluginRunner, providers }: ImagesWiring,
  metrics: ReturnType<typeof imageMetrics>,
): readonly CredentialProvider[] {
  if (providers === undefined) return [];
  announceProviders(ports.metrics, providers.hash);
  const common = { ...ports, binDir: settings.providerBinDir, runner: pluginRunner, metrics };
  return providers.providers.map((config) => new CredentialProvider({ ...common, config }));
}
