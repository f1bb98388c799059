import type { Settings } from '../../config/index.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import type { PodStores } from '../../pods/create-stores.ts';
import type { PodEvents } from '../../pods/runtime/index.ts';
import type { StorageDrivers } from '../../volumes/create-storage-drivers.ts';
import { DriverStats } from '../../volumes/csi/index.ts';
import type { Volumes } from '../../volumes/create-volumes.ts';

interface DriverStatsParts {
  readonly drivers: StorageDrivers['drivers'];
  readonly volumes: Volumes['volumes'];
  readonly stores: Pick<PodStores, 'desired'>;
  readonly events: PodEvents;
}

/**
 * Volume statistics of storage drivers; records events of abnormal volumes on their pods where the gate CSIVolumeHealth
 * is on.
 */
export function driverStats(
  { featureGates }: Settings,
  { clock }: CommonPorts,
  { drivers, volumes, stores, events }: DriverStatsParts,
): DriverStats {
  const reports = featureGates.enabled('CSIVolumeHealth');
  return new DriverStats({
    clock,
    drivers,
    mounted: (uid) => volumes.mounted(uid),
    ...(reports && {
      abnormal: (uid, event) => {
        const pod = stores.desired.get(uid);
        if (pod !== undefined) events.record(pod, event);
      },
    }),
  });
}
