import {
  AttachWait,
  CsiBlockVolumes,
  CsiFileVolumes,
  mirroredDriverObjects,
  nodeAttachments,
  secretsOfApi,
  secretsOfObjects,
  VolumeExpander,
  type CsiCluster,
} from './csi/index.ts';
import type { VolumesCluster, VolumesWiring } from './volumes-wiring.ts';

/** The volumes of storage drivers. */
export interface VolumesOfDrivers {
  readonly files: CsiFileVolumes;
  readonly devices: CsiBlockVolumes;
  /** A driver has registered: its leftover volumes can be torn down now. */
  cleanUp(driver: string): void;
}

export function createCsiVolumes(wiring: VolumesWiring): VolumesOfDrivers {
  const { ports, signals, settings, machine, paths, objects, drivers, cluster } = wiring;
  const { host } = machine;
  const secrets = cluster ? secretsOfApi(cluster.api) : secretsOfObjects(objects);
  const common = {
    ...ports,
    ...settings,
    ...machine,
    mounts: host.mounts,
    hostPaths: host.paths,
    podPaths: paths,
    drivers,
    secrets,
    tokens: wiring.tokens,
    events: wiring.events,
    cluster: cluster && createCsiCluster(wiring, cluster),
    expander: cluster && new VolumeExpander({ ...ports, ...cluster, drivers, secrets, events: wiring.events }),
  };
  const files = new CsiFileVolumes(common);
  const devices = new CsiBlockVolumes(common);
  signals.podRemoval.register('csi-volumes', { forget: (uid) => files.forget(uid), size: () => files.size() });
  // Operations under way end by themselves.
  signals.podRemoval.register('csi-operations', { forget: () => {}, size: () => files.podsUnderWay() });
  return {
    files,
    devices,
    cleanUp(driver) {
      for (const kind of [files, devices]) void kind.cleanUp(driver);
    },
  };
}

/** The CSIDriver objects, and the attachments of this node. */
function createCsiCluster({ ports, settings }: VolumesWiring, { api, node, drivers }: VolumesCluster): CsiCluster {
  const { nodeName } = settings;
  const attachments = new AttachWait({
    clock: ports.clock,
    api,
    nodeName,
    node: nodeAttachments(node, nodeName),
  });
  node.listen(() => attachments.changed());
  return { objects: mirroredDriverObjects(drivers), attachments };
}
