import type { Broadcaster } from '../base/broadcaster.ts';
import type { CommonPorts } from '../model/common-ports.ts';
import type { Due } from '../base/due.ts';
import type { PodUid } from '../base/ids.ts';
import type { CSIDriver, Node } from '../gen/kubernetes/types.ts';
import type { ApiReader, ApiWriter, Mirror } from '../model/api-client.ts';
import type { PodPaths } from '../model/pod-paths.ts';
import type { PodRemoval } from '../model/pod-removal.ts';
import type { NodeFacts } from '../model/runtime-settings.ts';
import type { TrustSource, VolumeTokens } from './credential-ports.ts';
import type { BlockDevices, ClaimEvents, CsiFiles, FoundDrivers } from './csi/index.ts';
import type { MountPrograms, VolumeEvents, VolumeHost, VolumeImages, VolumeObjects } from './ports.ts';

export interface VolumeSettings {
  readonly nodeName: string;
  /** The agent's own folder. */
  readonly rootDir: string;
  /** The feature gate ImageVolume. */
  readonly imageVolumes: boolean;
  /** Volumes in memory can be kept out of swap. */
  readonly tmpfsNoSwap: boolean;
  /** Whether the kernel labels files. */
  readonly hasSeLinux: boolean;
}

/** Wakes pods: something that they use has changed. */
interface VolumesInbox {
  resourcesChanged(uids: readonly PodUid[]): void;
}

interface VolumesSignals {
  readonly inbox: VolumesInbox;
  readonly podRemoval: Pick<PodRemoval, 'register'>;
  /** Marked when the volumes in use have changed that a controller attaches. */
  readonly nodeStatusDue: Pick<Due, 'mark'>;
  /** A storage driver of that name was registered or deregistered. */
  readonly driverChanged: Pick<Broadcaster<string>, 'listen'>;
  /** Storage that did not answer may answer now. */
  readonly storageAnswers: Pick<Broadcaster<void>, 'listen'>;
}

/** The machine as far as volumes need it. */
export interface VolumesMachine {
  readonly host: VolumeHost;
  /** For file systems that the kernel alone cannot mount. */
  readonly programs: MountPrograms;
  /** The agent's own folders, for records of volumes of drivers. */
  readonly files: CsiFiles;
  readonly devices: BlockDevices;
}

/** The node as pods see it. */
interface VolumesNode {
  readonly facts: NodeFacts;
  hostIps(): readonly string[];
}

/** Volumes in the API server. */
export interface VolumesCluster {
  /** Reads claims and PersistentVolumes one by one, and patches the status of claims. */
  readonly api: Pick<ApiReader, 'get'> & Pick<ApiWriter, 'patch'>;
  /** This node's own object. */
  readonly node: Pick<Mirror<Node>, 'get'> & { listen(listener: () => void): void };
  readonly drivers: Pick<Mirror<CSIDriver>, 'get' | 'synced'> & { listen(listener: () => void): void };
  readonly claimEvents: ClaimEvents;
  /** Of this node's object; undefined before it was read. */
  nodeLabels(): Readonly<Record<string, string>> | undefined;
}

export interface VolumesWiring {
  readonly ports: CommonPorts;
  readonly signals: VolumesSignals;
  readonly settings: VolumeSettings;
  readonly machine: VolumesMachine;
  readonly paths: PodPaths;
  readonly node: VolumesNode;
  readonly objects: VolumeObjects;
  readonly images: VolumeImages;
  readonly tokens: VolumeTokens;
  readonly trust: TrustSource;
  readonly events: VolumeEvents;
  /** The storage drivers of this node. */
  readonly drivers: FoundDrivers;
  /** Undefined on a node without a cluster. */
  readonly cluster: VolumesCluster | undefined;
}
