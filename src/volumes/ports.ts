import type { PodUid } from '../base/ids.ts';
import type { ImageSpec } from '../gen/cri/api.ts';
import type { ConfigMap, Secret, Volume } from '../gen/kubernetes/types.ts';
import type { DesiredPod } from '../model/desired-pod.ts';
import type { FileAccess, ContentFile, FileFacts, MountSpec } from '../model/file-facts.ts';
import type { GroupAccess } from '../model/group-access.ts';
import type { ObjectEvent } from '../model/object-event.ts';
import type { DataObjectKind } from '../model/standalone-object.ts';
import type { ClaimedVolume, PersistentSource } from './claims/claimed-volume.ts';

/** One kind of volume. */
export interface VolumePlugin {
  /** Its folder below a pod's volumes, by which its volumes are recognized after a restart. Unset: it keeps none. */
  readonly folder?: string;
  /** Its contents follow objects of the API: the manager calls setUp at every sync of the pod. Cheap without changes. */
  readonly follows?: boolean;
  /** Whether this plugin sets the volume up. */
  handles(volume: Volume): boolean;
  /** Whether it sets up PersistentVolumes of such a source; without it, none. */
  handlesClaimed?(source: PersistentSource): boolean;
  /** The name under which a controller attaches such a volume to nodes; undefined where none attaches it. */
  attachable?(claimed: ClaimedVolume): string | undefined;
  /** Sets the volume up for containers; returns where it is on the host. Idempotent. */
  setUp(request: VolumeRequest, signal: AbortSignal): Promise<MountedVolume>;
  /**
   * Expands a mounted volume whose claim is larger than `before`, the claim as the last call saw it. Plugins without it do
   * not expand volumes on nodes.
   */
  resize?(request: VolumeRequest, before: ClaimedVolume, signal: AbortSignal): Promise<void>;
  /** Undoes `setUp` with what the disk knows. Idempotent, also for a volume that is half set up. */
  tearDown?(place: VolumePlace): Promise<void>;
  /** The same for a block volume, which has a link of its name in this kind's folder below the pod's `volumeDevices`. */
  tearDownDevice?(place: VolumePlace): Promise<void>;
}

export interface VolumeRequest {
  readonly pod: DesiredPod;
  readonly volume: Volume;
  /** What the cluster bound to it, where the volume is a claim. */
  readonly claimed?: ClaimedVolume;
}

/** The name is that of the volume's folder: for a claim the one of the PersistentVolume. */
export interface VolumePlace {
  readonly uid: PodUid;
  readonly name: string;
}

export interface MountedVolume {
  /** Folder or file to show; for a block volume the device. */
  readonly hostPath: string;
  readonly readOnly?: boolean;
  readonly selinuxRelabel?: boolean;
  /** The name of the PersistentVolume where there is one: parts of the volume are kept under it. */
  readonly innerName?: string;
  /** A group that the pod's containers get, so that they may use the volume. */
  readonly gid?: number;
  /** A path or device of the node's own: what is on it is not measured as the pod's. */
  readonly isOfNode?: boolean;
  /** The runtime mounts it itself. */
  readonly image?: ImageSpec;
  /** The storage driver that measures the volume, and its handle. */
  readonly driver?: DriverPlace;
  /** When a sync of the pod is to set it up again, in monotonic time. The pod uses it meanwhile. */
  readonly renewAtMs?: number;
}

interface DriverPlace {
  readonly name: string;
  readonly volumeHandle: string;
  /** Where the driver has published it to the pod. */
  readonly volumePath: string;
}

/** The machine as far as volumes need it. */
export interface VolumeHost {
  readonly files: VolumeFiles;
  readonly contents: ContentFiles;
  readonly paths: HostPaths;
  /** The same for the agent's own folders that no container has seen yet: nothing there hangs. */
  readonly ownPaths: Pick<HostPaths, 'stat' | 'changeTree'>;
  readonly mounts: Mounts;
}

/** The agent's own folders. Modes are exact, whatever the umask. */
export interface VolumeFiles {
  /** Makes a folder and those above it; one that is there gets the mode. */
  makeFolder(path: string, mode: number): Promise<void>;
  /** Replaces the file's content. */
  writeFile(path: string, content: string, mode: number): Promise<void>;
  /** Names in a folder; none when the folder is not there. */
  list(path: string): Promise<readonly string[]>;
  /** Removes a tree without following links and without crossing mounts. What is not there is fine. */
  removeTree(path: string): Promise<void>;
  /** Removes a folder that has nothing in it, and fails where there is anything. What is not there is fine. */
  removeEmpty(path: string): Promise<void>;
}

/** What the atomic writer does to a volume's folder. Containers see that folder read-only. */
export interface ContentFiles {
  /** Where a link points; undefined when there is none. */
  readLink(path: string): Promise<string | undefined>;
  /** The plain files below a folder, by their path from there. */
  readTree(path: string): Promise<ReadonlyMap<string, Required<ContentFile>>>;
  makeFolder(path: string, access: FileAccess): Promise<void>;
  /** A file that is not there yet. */
  writeFile(path: string, file: ContentFile): Promise<void>;
  /** Replaces a link atomically. */
  replaceLink(path: string, target: string, owner: Omit<FileAccess, 'mode'>): Promise<void>;
  /** Removes a link. */
  unlink(path: string): Promise<void>;
}

/**
 * Paths that others write to as well, walked by descriptor: a link that appears on the way leads nowhere. What is behind
 * them may hang: then calls fail after a while, as `unavailable`, and hold up nothing else.
 */
export interface HostPaths {
  /** The file at a path, through links; undefined where there is none. */
  stat(path: string): Promise<FileFacts | undefined>;
  /** Makes a folder and those above it; one that is there gets the mode. */
  makeFolder(path: string, mode: number): Promise<void>;
  /** Makes an empty file; not the folders above it. */
  makeFile(path: string, mode: number): Promise<void>;
  /** Sets groups and modes of a folder and all below it on its file system; `processed` reports the progress. */
  changeTree(
    path: string,
    access: GroupAccess,
    signal: AbortSignal,
    processed?: (entries: number) => void,
  ): Promise<void>;
  /** Makes the folders of a relative path below a volume that are not there. */
  makeBelow(volumePath: string, subPath: string): Promise<void>;
  /** Opens a path below a volume; links in it may lead anywhere in the volume and nowhere else. */
  openBelow(volumePath: string, subPath: string): Promise<OpenPath>;
}

/** A path that stays what it is for as long as it is open. */
export interface OpenPath {
  readonly isFolder: boolean;
  /** To mount from. */
  readonly source: string;
  /** Whether the other path is this very file or folder. */
  isAt(path: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface Mounts {
  mount(fsType: 'tmpfs' | 'hugetlbfs', target: string, options: readonly string[]): Promise<void>;
  bind(source: string, target: string): Promise<void>;
  /** Takes rights from what is bound here alone, such as `ro` and `noexec`; other options are left out. Repeatable. */
  restrict(target: string, options: readonly string[]): Promise<void>;
  /** Takes away all that is mounted on a path. */
  unmount(target: string): Promise<void>;
  /** Takes away all that is mounted at and below a path, and nothing at any other place where it is shown too. */
  release(path: string): Promise<void>;
  /** The paths at and below this one on which something is mounted, deepest first. */
  atOrBelow(path: string): Promise<readonly string[]>;
}

/** mount(8) and umount(8), for file systems with helpers of their own. */
export interface MountPrograms {
  /** Settles only when the program has ended, also after an abort: it must not mount after that. */
  mount(spec: MountSpec, signal: AbortSignal): Promise<void>;
  /** Ends with the signal, also where the program hangs for good. */
  unmount(target: string, how: { readonly force: boolean }, signal: AbortSignal): Promise<void>;
}

/** Volumes of CSI drivers with file systems, inline and behind claims. */
export interface CsiVolumes extends CsiDevices {
  /** `kubernetes.io/csi/<driver>^<handle>` where the driver has its volumes attached. */
  attachable(claimed: ClaimedVolume): string | undefined;
}

/** Volumes of CSI drivers that pods get as devices. */
export interface CsiDevices {
  setUp(request: VolumeRequest, signal: AbortSignal): Promise<MountedVolume>;
  /** As the plugin's. */
  resize?(request: VolumeRequest, before: ClaimedVolume, signal: AbortSignal): Promise<void>;
  /** Needs nothing but the disk. */
  tearDown(place: VolumePlace): Promise<void>;
}

/** The ConfigMaps and Secrets that pods may name. */
export interface VolumeObjects {
  configMap(namespace: string, name: string): ConfigMap | undefined;
  secret(namespace: string, name: string): Secret | undefined;
  /** Why an object that was not found may exist all the same. */
  problem?(kind: DataObjectKind, namespace: string, name: string): string | undefined;
}

/** Images that volumes are made of. */
export interface VolumeImages {
  ensure(request: VolumeRequest, signal: AbortSignal): Promise<ImageSpec>;
}

/** Events about a pod. */
export interface VolumeEvents {
  record(pod: DesiredPod, event: ObjectEvent): void;
}
