import type { VolumeCapability } from '../../gen/csi/v1.ts';
import { accessModeOf, type DriverCapability } from './driver-capabilities.ts';

interface MountTraits {
  /** Of the PersistentVolume; an inline volume has none. */
  readonly accessModes: readonly string[];
  /** Passed on as it is: for an empty one the driver picks its default. */
  readonly fsType?: string | undefined;
  readonly mountOptions?: readonly string[];
  /** The group for a driver with VOLUME_MOUNT_GROUP. */
  readonly mountGroup?: number | undefined;
}

/** How a volume is to be used, as folders and files. */
export function mountCapability(traits: MountTraits, capabilities: ReadonlySet<DriverCapability>): VolumeCapability {
  const { accessModes, fsType = '', mountOptions = [], mountGroup } = traits;
  const volumeMountGroup = mountGroup === undefined ? '' : String(mountGroup);
  return {
    mount: { fsType, mountFlags: [...mountOptions], volumeMountGroup },
    accessMode: usedAs(accessModes, capabilities),
  };
}

/** How a volume is to be used, as a device. */
export function blockCapability(
  accessModes: readonly string[],
  capabilities: ReadonlySet<DriverCapability>,
): VolumeCapability {
  return { block: {}, accessMode: usedAs(accessModes, capabilities) };
}

/** The first mode counts, as in upstream. */
function usedAs(
  [mode = 'ReadWriteOnce']: readonly string[],
  capabilities: ReadonlySet<DriverCapability>,
): VolumeCapability['accessMode'] {
  return { mode: accessModeOf(mode, capabilities) };
}
