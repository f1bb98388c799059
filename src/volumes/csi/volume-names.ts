import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { PodUid } from '../../base/ids.ts';

/** A volume as its driver identifies it. */
export interface DriverVolume {
  readonly driver: string;
  readonly handle: string;
}

const hexDigest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The VolumeAttachment that says whether a volume is attached to a node. */
export function attachmentName({ driver, handle }: DriverVolume, nodeName: string): string {
  return `csi-${hexDigest(handle + driver + nodeName)}`;
}

/** The handle of an inline volume, which lives as long as its pod. */
export function inlineHandle(uid: PodUid, volumeName: string): string {
  return `csi-${hexDigest(uid + volumeName)}`;
}

/** The name under which a node's status has a volume: in use, attached. */
export function attachableName({ driver, handle }: DriverVolume): string {
  return `kubernetes.io/csi/${driver}^${handle}`;
}

/** Below a pod's `volumes` and `volumeDevices`. */
export const csiFolder = 'kubernetes.io~csi';
export const volumeDataFile = 'vol_data.json';

/** Where a volume is staged once for all pods, with its record beside it. */
export interface StagingPlace {
  readonly folder: string;
  readonly target: string;
  readonly data: string;
}

/** Where a volume is published to one pod. Only the driver makes and removes the target. */
export interface PublishPlace {
  readonly folder: string;
  readonly target: string;
  readonly data: string;
}

/** Of all drivers: `<root>/plugins/kubernetes.io/csi`. Block volumes have theirs below `volumeDevices` there. */
export function csiPluginFolder(rootDir: string): string {
  return join(rootDir, 'plugins/kubernetes.io/csi');
}

export function stagingPlace(rootDir: string, { driver, handle }: DriverVolume): StagingPlace {
  return stagingAt(join(csiPluginFolder(rootDir), driver, hexDigest(handle)));
}

export function stagingAt(folder: string): StagingPlace {
  return { folder, target: join(folder, 'globalmount'), data: join(folder, volumeDataFile) };
}

/** `folder` is that of the volume in the pod's directory. */
export function publishPlace(folder: string): PublishPlace {
  return { folder, target: join(folder, 'mount'), data: join(folder, volumeDataFile) };
}
