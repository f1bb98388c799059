import type { NodeGetCapabilitiesResponse, VolumeCapability_AccessMode_Mode } from '../../gen/csi/v1.ts';

/** Optional capabilities of a driver on a node. */
export type DriverCapability =
  | 'STAGE_UNSTAGE_VOLUME'
  | 'GET_VOLUME_STATS'
  | 'EXPAND_VOLUME'
  | 'VOLUME_CONDITION'
  | 'SINGLE_NODE_MULTI_WRITER'
  | 'VOLUME_MOUNT_GROUP';

// The numbers are repeated here, because importing the generated ones would load all of gRPC.
const capabilityOfNumber: ReadonlyMap<number, DriverCapability> = new Map([
  [1, 'STAGE_UNSTAGE_VOLUME'],
  [2, 'GET_VOLUME_STATS'],
  [3, 'EXPAND_VOLUME'],
  [4, 'VOLUME_CONDITION'],
  [5, 'SINGLE_NODE_MULTI_WRITER'],
  [6, 'VOLUME_MOUNT_GROUP'],
]);

/** The known capabilities of a response. */
export function capabilitiesOf({ capabilities }: NodeGetCapabilitiesResponse): ReadonlySet<DriverCapability> {
  const known = capabilities.map(({ rpc }) => capabilityOfNumber.get(rpc?.type ?? 0));
  return new Set(known.filter((capability) => capability !== undefined));
}

export const accessModes = {
  UNKNOWN: 0,
  SINGLE_NODE_WRITER: 1,
  SINGLE_NODE_READER_ONLY: 2,
  MULTI_NODE_READER_ONLY: 3,
  MULTI_NODE_SINGLE_WRITER: 4,
  MULTI_NODE_MULTI_WRITER: 5,
  SINGLE_NODE_SINGLE_WRITER: 6,
  SINGLE_NODE_MULTI_WRITER: 7,
} as const satisfies Readonly<Record<string, VolumeCapability_AccessMode_Mode>>;

/** A volume's access mode as CSI has it: drivers with SINGLE_NODE_MULTI_WRITER distinguish the pods of one node. */
export function accessModeOf(
  mode: string,
  capabilities: ReadonlySet<DriverCapability>,
): VolumeCapability_AccessMode_Mode {
  const countsPods = capabilities.has('SINGLE_NODE_MULTI_WRITER');
  switch (mode) {
    case 'ReadWriteOnce':
      return countsPods ? accessModes.SINGLE_NODE_MULTI_WRITER : accessModes.SINGLE_NODE_WRITER;
    case 'ReadWriteOncePod':
      return countsPods ? accessModes.SINGLE_NODE_SINGLE_WRITER : accessModes.SINGLE_NODE_WRITER;
    case 'ReadOnlyMany':
      return accessModes.MULTI_NODE_READER_ONLY;
    case 'ReadWriteMany':
      return accessModes.MULTI_NODE_MULTI_WRITER;
    default:
      return accessModes.UNKNOWN;
  }
}
