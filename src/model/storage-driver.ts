/** What a storage driver reports about this node. */
export interface StorageDriver {
  /** The driver's own name of the node. */
  readonly nodeId: string;
  /** Labels of the topology segment from which the node reaches volumes. */
  readonly topology: Readonly<Record<string, string>>;
  /** How many volumes the node can have; undefined: the driver reports no limit. */
  readonly maxVolumes: number | undefined;
}
