import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Log } from '../../base/log.ts';
import type { ApiReader, ApiWriter } from '../../model/api-client.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import {
  CsiBlockVolumes,
  CsiFileVolumes,
  secretsOfApi,
  secretsOfObjects,
  VolumeExpander,
  type AttachWait,
  type BlockDevices,
  type ClaimEvents,
  type CsiFiles,
  type DriverObjects,
  type DriverTokens,
  type FoundDrivers,
} from '../../volumes/csi/index.ts';
import type {
  CsiDevices,
  CsiVolumes,
  MountPrograms,
  VolumeEvents,
  VolumeHost,
  VolumeObjects,
} from '../../volumes/index.ts';

/** What a cluster knows of storage drivers and their volumes. */
export interface ClusterStorage {
  readonly api: Pick<ApiReader, 'get'> & Pick<ApiWriter, 'patch'>;
  readonly objects: DriverObjects;
  readonly attachments: Pick<AttachWait, 'wait'>;
  readonly claimEvents: ClaimEvents;
}

/** How this node gets at storage drivers. */
export interface StorageAccess {
  readonly drivers: FoundDrivers;
  readonly files: CsiFiles;
  readonly devices: BlockDevices;
  /** Undefined where there is no cluster. */
  readonly cluster?: ClusterStorage | undefined;
  /** Whether the kernel labels files. */
  readonly hasSeLinux: boolean;
}

export interface CsiVolumesWiring {
  readonly clock: Clock;
  readonly log: Log;
  readonly host: VolumeHost;
  readonly programs: MountPrograms;
  readonly podPaths: PodPaths;
  readonly rootDir: string;
  readonly nodeName: string;
  readonly objects: VolumeObjects;
  readonly tokens?: DriverTokens | undefined;
  readonly events: VolumeEvents;
}

/** The volumes of storage drivers, and what is to be done for them beside setting them up. */
export interface WiredCsi {
  readonly volumes: CsiVolumes;
  readonly devices: CsiDevices;
  /** They read what an earlier agent left; before any pod comes. */
  readonly components: readonly Component[];
  /** Volumes that a controller must not detach from this node; undefined before that is known. */
  inUse(): readonly string[] | undefined;
  /** A driver is there: what was left of its volumes can go now. */
  driverChanged(name: string): void;
}

export function wireCsiVolumes(access: StorageAccess, wiring: CsiVolumesWiring): WiredCsi {
  const { host, objects, ...common } = wiring;
  const { clock, log, events } = wiring;
  const { drivers, cluster } = access;
  const secrets = cluster === undefined ? secretsOfObjects(objects) : secretsOfApi(cluster.api);
  const expander = cluster && new VolumeExpander({ clock, log, drivers, secrets, events, ...cluster });
  const parts = { ...common, ...access, mounts: host.mounts, hostPaths: host.paths, secrets, expander };
  const volumes = new CsiFileVolumes(parts);
  const devices = new CsiBlockVolumes(parts);
  return {
    volumes,
    devices,
    components: [volumes, devices],
    inUse() {
      const [ofFiles, ofDevices] = [volumes.inUse(), devices.inUse()];
      return ofFiles && ofDevices && [...ofFiles, ...ofDevices];
    },
    driverChanged(name) {
      for (const kind of [volumes, devices]) void kind.cleanUp(name);
    },
  };
}
