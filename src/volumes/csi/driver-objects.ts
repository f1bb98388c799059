import { isKind, TubeletError } from '../../base/errors.ts';
import type { CSIDriver } from '../../gen/kubernetes/types.ts';
import type { Mirror } from '../../model/api-client.ts';
import { isAttachRequired } from './driver-spec.ts';
import type { DriverObjects } from './ports.ts';

/** The cluster's drivers by list and watch, which nodes may do. Keeps what it has while the API server is away. */
export function mirroredDriverObjects(mirror: Pick<Mirror<CSIDriver>, 'synced' | 'get'>): DriverObjects {
  return {
    get(name) {
      // An object that has not arrived must not count as missing: it decides whether volumes are attached.
      if (!mirror.synced()) throw new TubeletError('unavailable', 'CSIDrivers has not been synced yet');
      return mirror.get({ name });
    },
  };
}

/**
 * Whether a controller may attach volumes of a driver; none does on a node without a cluster. While the objects
 * have not arrived it returns true: a superfluous name among those in use does no harm, a missing one does.
 */
export function mayBeAttached(objects: DriverObjects | undefined, driver: string): boolean {
  if (objects === undefined) return false;
  try {
    return isAttachRequired(objects.get(driver));
  } catch (error) {
    if (isKind(error, 'unavailable')) return true;
    throw error;
  }
}
