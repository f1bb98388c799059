import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import type { DriverTokens } from '../credential-ports.ts';
import type { HostPaths, MountPrograms, Mounts, VolumeEvents } from '../ports.ts';
import type { AttachWait } from './attach-wait.ts';
import type { VolumeExpander } from './expand-volumes.ts';
import type { CsiFiles, DriverObjects, DriverSecrets, FoundDrivers } from './ports.ts';

/** The CSIDriver objects of the cluster, and the attachments of this node. */
export interface CsiCluster {
  readonly objects: DriverObjects;
  readonly attachments: Pick<AttachWait, 'wait'>;
}

export interface CsiFileVolumesDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly files: CsiFiles;
  readonly mounts: Pick<Mounts, 'atOrBelow'>;
  /** For what a driver leaves mounted. */
  readonly programs: Pick<MountPrograms, 'unmount'>;
  readonly hostPaths: Pick<HostPaths, 'stat' | 'changeTree'>;
  readonly podPaths: PodPaths;
  /** The agent's own folder: volumes are staged below it. */
  readonly rootDir: string;
  readonly nodeName: string;
  readonly drivers: FoundDrivers;
  /** Unset on a node without one: then drivers are taken as they are, and nothing is attached. */
  readonly cluster?: CsiCluster | undefined;
  readonly secrets: DriverSecrets;
  readonly tokens: DriverTokens;
  readonly events: VolumeEvents;
  readonly expander?: Pick<VolumeExpander, 'whileMounting' | 'online' | 'forget'> | undefined;
  /** Whether the kernel labels files. */
  readonly hasSeLinux: boolean;
}
