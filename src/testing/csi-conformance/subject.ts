import type { StorageDriver } from '../../model/storage-driver.ts';
import type { DriverCapability } from '../../volumes/csi/index.ts';
import type { DriverClient } from '../../volumes/csi/driver-client.ts';

/** A driver to be examined. */
export interface CsiSubject {
  readonly driver: DriverClient;
  /** An empty folder for staging and target paths, seen by the driver under the same path. */
  readonly folder: string;
  readonly node: StorageDriver;
  readonly capabilities: readonly DriverCapability[];
  /** What a provisioner does: answers the id of a new volume. */
  create(kind: VolumeKind): Promise<string>;
  /** The volume is no more, whoever uses it. */
  remove(id: string): Promise<void>;
}

export type VolumeKind = 'mount' | 'block';

export interface CsiConformanceOptions {
  readonly name: string;
  readonly setup: () => Promise<CsiSubject>;
  readonly teardown?: () => Promise<void>;
}
