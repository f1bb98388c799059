import { join } from 'node:path';
import type { PodUid } from '../../base/ids.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import { csiFolder, csiPluginFolder, volumeDataFile } from './volume-names.ts';

/** Where a block volume is, by the name of its PersistentVolume. The layout is the kubelet's. */
export interface BlockPlace {
  /** The driver's own, for all pods. */
  readonly staging: string;
  /** Where the driver makes one device for each pod, called after its uid. */
  readonly published: string;
  /** What the agent has on record: `data/vol_data.json`, and `dev` with a link for each pod. */
  readonly folder: string;
  readonly dataFolder: string;
  readonly data: string;
  readonly users: string;
}

/** Folders of `volumeDevices` that are no volume's. */
const reserved: ReadonlySet<string> = new Set(['staging', 'publish']);

export function blockFolder(rootDir: string): string {
  return join(csiPluginFolder(rootDir), 'volumeDevices');
}

export function blockPlace(rootDir: string, name: string): BlockPlace {
  const top = blockFolder(rootDir);
  const folder = join(top, name);
  const dataFolder = join(folder, 'data');
  return {
    staging: join(top, 'staging', name),
    published: join(top, 'publish', name),
    folder,
    dataFolder,
    data: join(dataFolder, volumeDataFile),
    users: join(folder, 'dev'),
  };
}

/** A volume of such a name would have the folders of all others in its own. */
export function isReserved(name: string): boolean {
  return reserved.has(name);
}

/** The link in the pod's directory: what the runtime is shown, and by which the volume is found again. */
export function podLink(paths: PodPaths, uid: PodUid, name: string): string {
  return join(paths.volumeDevices(uid), csiFolder, name);
}
