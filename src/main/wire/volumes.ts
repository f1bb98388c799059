import { release } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import type { NodeFacts, RuntimeSettings } from '../../model/runtime-settings.ts';
import {
  configMap,
  csi,
  downwardApi,
  emptyDir,
  hostPath,
  imageVolume,
  imageVolumeMetrics,
  localVolume,
  nfs,
  projected,
  ScratchFolders,
  secret,
  SubPaths,
  VolumeClaims,
  VolumeManager,
  WrittenVolumes,
  type MountPrograms,
  type TrustSource,
  type VolumeClaimsDeps,
  type VolumeEvents,
  type VolumeHost,
  type VolumeImages,
  type VolumeObjects,
} from '../../volumes/index.ts';
import type { DriverTokens } from '../../volumes/csi/index.ts';
import { wireCsiVolumes, type StorageAccess, type WiredCsi } from './csi-volumes.ts';

/** Tokens for volumes, and when those of a pod should be renewed. */
export interface VolumeTokens extends DriverTokens {
  refreshInMs(uid: PodUid): number | undefined;
}

export interface VolumesDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly host: VolumeHost;
  /** For file systems that the kernel alone cannot mount. */
  readonly programs: MountPrograms;
  /** Claims of the API server; a pod with a claim is refused without. */
  readonly claims?: VolumeClaimsDeps | undefined;
  readonly paths: PodPaths;
  readonly settings: Pick<RuntimeSettings, 'nodeName' | 'rootDir' | 'featureGates'>;
  readonly node: NodeFacts;
  readonly hostIps: () => readonly string[];
  readonly objects: VolumeObjects;
  readonly events: VolumeEvents;
  readonly images: VolumeImages;
  readonly tokens?: VolumeTokens;
  /** How storage drivers are spoken with; volumes of drivers are refused without. */
  readonly storage?: StorageAccess | undefined;
  /** The volumes in use that somebody else attaches have changed. */
  readonly inUseChanged?: (() => void) | undefined;
  readonly trust?: TrustSource;
  readonly wake: (uid: PodUid) => void;
  readonly metrics?: Metrics;
}

export interface WiredVolumes {
  readonly volumes: VolumeManager;
  readonly subPaths: SubPaths;
  readonly csi: WiredCsi | undefined;
}

/** Every kind of volume there is, and who looks after them. */
export function wireVolumes(deps: VolumesDeps): WiredVolumes {
  const { clock, random, log, host, paths, node, objects, tokens, programs, events } = deps;
  const noSwap = canKeepOutOfSwap(release());
  const memory = () => ({ allocatable: node.allocatable, noSwap });
  const facts = { node, nodeName: deps.settings.nodeName, hostIps: deps.hostIps };
  const scratch = new ScratchFolders(host, paths);
  const written = new WrittenVolumes({
    clock,
    random,
    host,
    scratch,
    memory,
    events,
  });
  const subPaths = new SubPaths({ log, host, paths });
  const ofDrivers =
    deps.storage &&
    wireCsiVolumes(deps.storage, {
      clock,
      log,
      host,
      programs,
      podPaths: paths,
      rootDir: deps.settings.rootDir,
      nodeName: deps.settings.nodeName,
      objects,
      tokens,
      events,
    });
  const plugins = [
    emptyDir({ clock, scratch, paths: host.ownPaths, memory, events }),
    hostPath({ paths: host.paths }),
    configMap(written, objects),
    secret(written, objects),
    downwardApi(written, facts),
    projected({ written, objects, facts, ...(tokens && { tokens }), ...(deps.trust && { trust: deps.trust }) }),
    localVolume({ clock, host, paths, programs, events, rootDir: deps.settings.rootDir }),
    nfs({ clock, host, paths, programs }),
    csi(ofDrivers?.volumes, ofDrivers?.devices),
    ...(deps.settings.featureGates('ImageVolume') ? [imageVolume(deps.images, imageVolumeMetrics(deps.metrics))] : []),
  ];
  const volumes = new VolumeManager({
    clock,
    log,
    host,
    paths,
    plugins,
    subPaths,
    events,
    wake: deps.wake,
    ...(deps.inUseChanged && { inUseChanged: deps.inUseChanged }),
    ...(deps.metrics && { metrics: deps.metrics }),
    ...(deps.claims && { claims: new VolumeClaims(deps.claims) }),
    ...(tokens && { refreshInMs: (uid) => tokens.refreshInMs(uid) }),
  });
  return { volumes, subPaths, csi: ofDrivers };
}

/** Since Linux 6.4 a tmpfs can be told never to go to swap. */
export function canKeepOutOfSwap(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(/[.-]/, 2).map(Number);
  return major > 6 || (major === 6 && minor >= 4);
}
