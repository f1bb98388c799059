import { join } from 'node:path';
import type { PodUid } from '../../base/ids.ts';
import type { PodPaths } from '../../model/pod-paths.ts';
import { csiFolder, csiPluginFolder, volumeDataFile } from './volume-names.ts';

/** Where a block volume is, by the name of its PersistentVolume. The layout is the kubelet's. */
export interface BlockPlace {
  /** The driver's own, for all pods. */
  readonly staging: string;
  /** Where the driver makes one device for each pod, named by its uid. */
  readonly published: string;
  /** The agent's record: `data/vol_data.json`, and `dev` with a link for each pod. */
  readonly folder: string;
  readonly dataFolder: string;
  readonly data: string;
  readonly users: string;
}

/** Folders of `volumeDevices` that belong to no volume. */
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

/** The folder of a volume with such a name would contain those of all others. */
export function isReserved(name: string): boolean {
  return reserved.has(name);
}

/** The link in the pod's directory: the runtime gets it, and tearDown finds the volume by it. */
export function podLink(paths: PodPaths, uid: PodUid, name: string): string {
  return join(paths.volumeDevices(uid), csiFolder, name);
}
