import type { Component } from '../base/component.ts';
import type { PodRemoval } from '../model/pod-removal.ts';
import { createCsiVolumes, type VolumesOfDrivers } from './create-csi-volumes.ts';
import {
  configMap,
  countPods,
  csi,
  downwardApi,
  emptyDir,
  hostPath,
  imageVolume,
  imageVolumeMetrics,
  localVolume,
  nfs,
  noClaims,
  KeyedMutex,
  projected,
  ScratchFolders,
  secret,
  SubPaths,
  VolumeClaims,
  VolumeManager,
  VolumesInUse,
  WrittenVolumes,
  type VolumePlugin,
} from './index.ts';
import type { VolumesWiring } from './volumes-wiring.ts';

export interface Volumes {
  /** They read what an earlier agent left: to be started before pods sync. */
  readonly components: readonly Component[];
  readonly volumes: Pick<VolumeManager, 'mount' | 'unmount' | 'tearDown' | 'mounted' | 'extraGroups'>;
  readonly subPaths: Pick<SubPaths, 'bind'>;
  /** The volumes that a controller must not detach from this node. */
  readonly inUse: Pick<VolumesInUse, 'names'>;
}

const csiKind = 'kubernetes.io/csi';

/** All volume plugins, and the manager of volumes. */
export function createVolumes(wiring: VolumesWiring): Volumes {
  const { ports, signals, machine, paths, tokens, events, cluster } = wiring;
  const { host } = machine;
  const ofDrivers = createCsiVolumes(wiring);
  const subPaths = new SubPaths({ log: ports.log, host, paths });
  const volumes = new VolumeManager({
    ...ports,
    host,
    paths,
    plugins: [...createOwnKinds(wiring), csi(ofDrivers.files, ofDrivers.devices)],
    claims: cluster ? new VolumeClaims({ api: cluster.api, nodeLabels: () => cluster.nodeLabels() }) : noClaims,
    subPaths,
    events,
    wake: (uid) => signals.inbox.resourcesChanged([uid]),
    refreshInMs: (uid) => tokens.refreshInMs(uid),
    inUseChanged: () => signals.nodeStatusDue.mark(),
  });
  const inUse = new VolumesInUse({ volumes, onRecord: [ofDrivers.files, ofDrivers.devices] });
  register(signals.podRemoval, { volumes, subPaths });
  listen(wiring, { volumes, subPaths, ofDrivers });
  return { components: [ofDrivers.files, ofDrivers.devices, volumes], volumes, subPaths, inUse };
}

/** The kinds that need no storage driver. */
function createOwnKinds(wiring: VolumesWiring): readonly VolumePlugin[] {
  const { ports, signals, settings, machine, paths, node, objects, images, tokens, trust, events } = wiring;
  const { clock, random, metrics } = ports;
  const { host, programs } = machine;
  const noSwap = settings.tmpfsNoSwap;
  const memory = () => ({ allocatable: node.facts.allocatable, noSwap });
  const facts = { node: node.facts, nodeName: settings.nodeName, hostIps: () => node.hostIps() };
  const scratch = new ScratchFolders(host, paths);
  const written = new WrittenVolumes({ clock, random, host, scratch, memory, events });
  signals.podRemoval.register('written-volumes', { forget: (uid) => written.forget(uid), size: () => written.size() });
  const mutex = new KeyedMutex();
  // Operations under way end by themselves.
  signals.podRemoval.register('nfs-operations', { forget: () => {}, size: () => countPods(mutex.keys()) });
  return [
    emptyDir({ clock, scratch, paths: host.ownPaths, memory, events }),
    hostPath({ paths: host.paths }),
    configMap(written, objects),
    secret(written, objects),
    downwardApi(written, facts),
    projected({ written, objects, facts, tokens, trust }),
    localVolume({ clock, host, paths, programs, events, rootDir: settings.rootDir }),
    nfs({ clock, host, paths, programs, mutex }),
    ...(settings.imageVolumes ? [imageVolume(images, imageVolumeMetrics(metrics))] : []),
  ];
}

interface VolumeParts {
  readonly volumes: VolumeManager;
  readonly subPaths: SubPaths;
  readonly ofDrivers: VolumesOfDrivers;
}

function register(
  podRemoval: Pick<PodRemoval, 'register'>,
  { volumes, subPaths }: Omit<VolumeParts, 'ofDrivers'>,
): void {
  podRemoval.register('volumes', { forget: (uid) => volumes.forget(uid), size: () => volumes.size() });
  // A teardown ends by itself, and a pod that comes back under its uid waits for it.
  podRemoval.register('volume-teardowns', { forget: () => {}, size: () => volumes.teardownsUnderWay() });
  podRemoval.register('sub-paths', { forget: (uid) => subPaths.forget(uid), size: () => subPaths.size() });
}

/** Retries failed volumes when what they waited for may be there. */
function listen({ signals, cluster }: VolumesWiring, { volumes, subPaths, ofDrivers }: VolumeParts): void {
  signals.driverChanged.listen((name) => {
    ofDrivers.cleanUp(name);
    volumes.retry(csiKind);
  });
  cluster?.drivers.listen(() => volumes.retry(csiKind));
  signals.storageAnswers.listen(() => {
    volumes.retryAll();
    signals.inbox.resourcesChanged(subPaths.takeWaiting());
  });
}
