import type { StorageDriver } from '../../model/storage-driver.ts';
import type { DriverCapability } from '../../volumes/csi/index.ts';
import type { DriverClient } from '../../volumes/csi/driver-client.ts';

/** A driver under test. */
export interface CsiSubject {
  readonly driver: DriverClient;
  /** An empty folder for staging and target paths, seen by the driver under the same path. */
  readonly folder: string;
  readonly node: StorageDriver;
  readonly capabilities: readonly DriverCapability[];
  /** Creates a volume, as a provisioner does; returns its id. */
  create(kind: VolumeKind): Promise<string>;
  /** Deletes the volume, whether it is in use or not. */
  remove(id: string): Promise<void>;
}

export type VolumeKind = 'mount' | 'block';

export interface CsiConformanceOptions {
  readonly name: string;
  readonly setup: () => Promise<CsiSubject>;
  readonly teardown?: () => Promise<void>;
}
