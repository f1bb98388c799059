import type { Log } from '../base/log.ts';
import { checkpointedResources } from './status/device-checkpoint.ts';
import type { NodeDevices } from './status/setter.ts';

/** The checkpoint of the device manager of a kubelet that ran here before. */
export interface DeviceCheckpoint {
  readonly path: string;
  /** Undefined where there is none. */
  read(): Promise<string | undefined>;
}

/** What device plugins had registered with the kubelet that ran here before. */
export interface FormerDevices {
  /** Their resources, none of which can be given to containers. */
  readonly devices: NodeDevices;
  /** Extended resources of an existing Node are stale: it is unknown which of them belonged to plugins. */
  readonly resetAll: boolean;
}

/**
 * There are no device plugins yet, so devices that an earlier kubelet promised in the Node's capacity do not exist: a
 * pod that was scheduled for one would start without it.
 */
export async function readFormerDevices(checkpoint: DeviceCheckpoint, log: Log): Promise<FormerDevices> {
  const { path } = checkpoint;
  const text = await checkpoint.read().catch((error: unknown) => {
    log.error(error, 'The checkpoint of devices cannot be read', { path });
    return undefined;
  });
  if (text === undefined) return { devices: none([]), resetAll: true };
  try {
    return { devices: none(checkpointedResources(text)), resetAll: false };
  } catch (error) {
    log.error(error, 'The checkpoint of devices cannot be read, resetting all extended resources of the node', {
      path,
    });
    return { devices: none([]), resetAll: true };
  }
}

function none(resources: readonly string[]): NodeDevices {
  const zeros = Object.fromEntries(resources.map((name) => [name, '0']));
  return { capacity: zeros, allocatable: zeros, removed: [] };
}
