import { isKind, TubeletError } from '../../base/errors.ts';
import type { CSIDriver } from '../../gen/kubernetes/types.ts';
import type { Mirror } from '../../model/api-client.ts';
import { isAttachRequired } from './driver-spec.ts';
import type { DriverObjects } from './ports.ts';

/** The cluster's drivers by list and watch, which nodes may do. What is known stays known while the server is away. */
export function mirroredDriverObjects(mirror: Pick<Mirror<CSIDriver>, 'synced' | 'get'>): DriverObjects {
  return {
    get(name) {
      // Nobody may take an object that has not arrived for one that is not there: it decides what is attached.
      if (!mirror.synced()) throw new TubeletError('unavailable', 'CSIDrivers has not been synced yet');
      return mirror.get({ name });
    },
  };
}

/**
 * Whether volumes of a driver may be attached by a controller; nobody does on a node without a cluster. While the objects
 * have not arrived it counts as so: a name too many among those in use does no harm, one that is missing does.
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
