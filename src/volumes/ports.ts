import type { PodUid } from '../base/ids.ts';
import type { Volume } from '../gen/kubernetes/types.ts';

/** The file system as far as volumes need it. */
export interface VolumeFiles {
  /** Makes a folder and those above it; one that is there gets the mode. */
  makeFolder(path: string, mode: number): Promise<void>;
  /** Removes a tree without following links and without crossing mounts. What is not there is fine. */
  removeTree(path: string): Promise<void>;
}

/** One kind of volume. */
export interface VolumePlugin {
  /** Whether this kind answers for the volume. */
  handles(volume: Volume): boolean;
  /** Makes the volume ready for containers; answers where it is on the host. Must stand being called again. */
  setUp(uid: PodUid, volume: Volume): Promise<MountedVolume>;
  /** Undoes `setUp`. Must stand being called again, and for volumes that never came to be. */
  tearDown(uid: PodUid, volume: Volume): Promise<void>;
}

export interface MountedVolume {
  readonly hostPath: string;
  readonly readOnly?: boolean;
}
