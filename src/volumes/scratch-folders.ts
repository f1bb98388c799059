import { join } from 'node:path';
import type { PodPaths } from '../model/pod-paths.ts';
import type { StorageMedium } from './contents/medium.ts';
import type { VolumeHost, VolumePlace } from './ports.ts';

const kindMode = 0o755;
/** Every container of the pod may write, as any user. */
const volumeMode = 0o777;
const markFolderMode = 0o750;
const markMode = 0o644;
const markPlugin = 'kubernetes.io~empty-dir';

type ScratchHost = Pick<VolumeHost, 'files' | 'ownPaths' | 'mounts'>;

export interface ScratchFolder extends VolumePlace {
  /** The kind's folder below the pod's volumes. */
  readonly folder: string;
  /** The name of the mark that the folder is complete. */
  readonly mark: string;
}

/**
 * Folders of volumes that live as long as their pods, on disk or in memory. A mark beside the pod's other files says that
 * one is complete: a repeated setUp does not change what containers did to it since.
 *
 *   absent ──make──> folder ──mount──> mounted ──finish──> marked        remove: mark, mount, folder
 */
export class ScratchFolders {
  readonly #host: ScratchHost;
  readonly #paths: PodPaths;

  constructor(host: ScratchHost, paths: PodPaths) {
    this.#host = host;
    this.#paths = paths;
  }

  /** Makes the folder, unless it is complete; calls `finish` last. Returns its path. */
  async make(place: ScratchFolder, medium: StorageMedium, finish: (path: string) => Promise<void>): Promise<string> {
    const { files, ownPaths: paths, mounts } = this.#host;
    const path = this.#paths.volume(place.uid, place.folder, place.name);
    const marks = this.#marks(place);
    const isMarked = (await paths.stat(join(marks, 'ready'))) !== undefined;
    // The mount table grows with every pod: it is read only where the folder exists.
    const isThere = (await paths.stat(path)) !== undefined;
    const isMounted = isThere && medium.kind === 'mount' && (await mounts.atOrBelow(path)).includes(path);
    if (isMarked && (medium.kind === 'disk' ? isThere : isMounted)) return path;
    await files.makeFolder(join(this.#paths.volumes(place.uid), place.folder), kindMode);
    if (!isMounted) await files.makeFolder(path, volumeMode);
    if (medium.kind === 'mount' && !isMounted) await mounts.mount(medium.fsType, path, medium.options);
    await finish(path);
    await files.makeFolder(join(this.#paths.plugins(place.uid), markPlugin), markFolderMode);
    await files.makeFolder(marks, markFolderMode);
    await files.writeFile(join(marks, 'ready'), '', markMode);
    return path;
  }

  /** Removes it with all that is in it. The mark goes first, so that a half-removed folder never counts as complete. */
  async remove(place: ScratchFolder): Promise<void> {
    const { files, mounts } = this.#host;
    const path = this.#paths.volume(place.uid, place.folder, place.name);
    await files.removeTree(this.#marks(place));
    await mounts.release(path);
    await files.removeTree(path);
  }

  #marks({ uid, mark }: ScratchFolder): string {
    return join(this.#paths.plugins(uid), markPlugin, mark);
  }
}
