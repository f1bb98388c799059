import type { StorageDriver } from '../../model/storage-driver.ts';

/** Records in the cluster which drivers the node has: CSINode and Node. */
export interface DriverRecord {
  /** Resolves when it is recorded. Rejects when it is refused; while the API server is away it is written later. */
  setDriver(name: string, node: StorageDriver, signal: AbortSignal): Promise<void>;
  removeDriver(name: string): void;
}

/** Without an API server drivers are recorded nowhere. */
export const noDriverRecord: DriverRecord = { setDriver: async () => {}, removeDriver: () => {} };

/** What is known of a driver when it registers. */
export interface DriverInfo {
  readonly name: string;
  /** A socket path. */
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}
