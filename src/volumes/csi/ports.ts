import type { CSIDriver } from '../../gen/kubernetes/types.ts';
import type { VolumeFiles } from '../ports.ts';
import type { DriverClient } from './driver-client.ts';

/** The drivers that are registered on this node. */
export interface FoundDrivers {
  /** Throws `unavailable` while there is none of that name. */
  find(name: string): DriverClient;
}

/** The CSIDriver objects of the cluster. */
export interface DriverObjects {
  /** Undefined when there is none of that name; throws `unavailable` before the objects have been synced. */
  get(name: string): CSIDriver | undefined;
}

/** Volumes in this node's object, by names such as `kubernetes.io/csi/<driver>^<handle>`. */
export interface NodeAttachments {
  /** The node's status reports it in use, so that the controller does not detach it. */
  isReportedInUse(name: string): boolean;
  isAttached(name: string): boolean;
}

/** Secrets that drivers need for volumes. */
export interface DriverSecrets {
  /** Key → value, as text. */
  get(namespace: string, name: string, signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
}

/** The agent's own folders, with their records. */
export interface CsiFiles extends VolumeFiles {
  readText(path: string): Promise<string>;
  /** Replaces a record atomically and durably: after a loss of power it has the old content or the new one. */
  replaceFile(path: string, content: string, mode: number): Promise<void>;
  /** Removes a record, with what a killed writer of it left. What is not there is fine. */
  removeFile(path: string): Promise<void>;
}
