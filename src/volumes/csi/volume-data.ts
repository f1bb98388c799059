import { TubeletError } from '../../base/errors.ts';
import { driverNameProblem } from './driver-version.ts';
import type { DriverVolume } from './volume-names.ts';

export type VolumeLifecycle = 'Persistent' | 'Ephemeral';

/** The record of a pod's volume: all that tearDown needs. The format is upstream's. */
export interface PublishedData extends DriverVolume {
  /** The name of the PersistentVolume, or that of an inline volume in its pod. */
  readonly name: string;
  readonly nodeName: string;
  readonly attachment: string;
  readonly lifecycle: VolumeLifecycle;
}

/** What is on disk of a volume that is staged. */
export interface StagedData extends DriverVolume {
  /** With which label of SELinux it is mounted. */
  readonly seLinuxContext?: string;
}

export function encodePublished(data: PublishedData): string {
  return encode({
    attachmentID: data.attachment,
    driverName: data.driver,
    nodeName: data.nodeName,
    specVolID: data.name,
    volumeHandle: data.handle,
    volumeLifecycleMode: data.lifecycle,
  });
}

export function encodeStaged({ driver, handle, seLinuxContext }: StagedData): string {
  return encode({
    driverName: driver,
    ...(seLinuxContext !== undefined && { seLinuxMountContext: seLinuxContext }),
    volumeHandle: handle,
  });
}

/** Throws `invalid` for a text that is no complete record. */
export function decodePublished(text: string): PublishedData {
  const { specVolID = '', nodeName = '', attachmentID = '', volumeLifecycleMode, ...rest } = decode(text);
  // Records of old kubelets have no mode: they had only persistent volumes.
  const lifecycle = volumeLifecycleMode === 'Ephemeral' ? 'Ephemeral' : 'Persistent';
  return { ...volumeOf(rest), name: specVolID, nodeName, attachment: attachmentID, lifecycle };
}

export function decodeStaged(text: string): StagedData {
  const { seLinuxMountContext, ...rest } = decode(text);
  return { ...volumeOf(rest), ...(seLinuxMountContext && { seLinuxContext: seLinuxMountContext }) };
}

/** Keys in the order of the alphabet, which is how Go writes maps. */
function encode(fields: Readonly<Record<string, string>>): string {
  return `${JSON.stringify(Object.fromEntries(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1))))}\n`;
}

function decode(text: string): Readonly<Record<string, string | undefined>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TubeletError('invalid', text.trim() === '' ? 'it is empty' : 'it is not JSON', { cause });
  }
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = isMap ? Object.entries(value as Record<string, unknown>) : [];
  if (!isMap || entries.some(([, field]) => typeof field !== 'string')) {
    throw new TubeletError('invalid', 'it is no map of texts');
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

/** The driver's name becomes part of a path. */
function volumeOf({ driverName = '', volumeHandle = '' }: Readonly<Record<string, string | undefined>>): DriverVolume {
  const fault = driverNameProblem(driverName);
  if (fault !== undefined) throw new TubeletError('invalid', `driverName "${driverName}" ${fault}`);
  if (volumeHandle === '') throw new TubeletError('invalid', 'volumeHandle is missing');
  return { driver: driverName, handle: volumeHandle };
}
