/** What a driver says of this node. */
export interface DriverNode {
  /** The node's name in the words of the driver. */
  readonly nodeId: string;
  /** Labels of the place from which the node reaches volumes. */
  readonly topology: Readonly<Record<string, string>>;
  /** How many volumes the node can have; undefined: the driver leaves it open. */
  readonly maxVolumes: number | undefined;
}

/** Where the cluster learns which drivers the node has: CSINode and Node. */
export interface DriverRecord {
  /** Resolves when it is on record. Rejects when it is refused; what only has to wait is written later by itself. */
  setDriver(name: string, node: DriverNode, signal: AbortSignal): Promise<void>;
  removeDriver(name: string): void;
}

/** The record of a node without a cluster: no one has to know. */
export const noDriverRecord: DriverRecord = { setDriver: async () => {}, removeDriver: () => {} };

/** What is known of a driver when it registers. */
export interface DriverInfo {
  readonly name: string;
  /** A socket path. */
  readonly endpoint: string;
  readonly supportedVersions: readonly string[];
}
