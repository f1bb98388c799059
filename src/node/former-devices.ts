import type { Log } from '../base/log.ts';
import { checkpointedResources } from './status/device-checkpoint.ts';
import type { NodeDevices } from './status/setter.ts';

/** What the device manager of the kubelet that ran here before has left. */
export interface DeviceCheckpoint {
  readonly path: string;
  /** Undefined where there is none. */
  read(): Promise<string | undefined>;
}

/** What device plugins had registered with the kubelet that ran here before. */
export interface FormerDevices {
  /** Their resources, none of which can be given to containers. */
  readonly devices: NodeDevices;
  /** Extended resources of a Node that is there already are stale: nothing here says which were of plugins. */
  readonly resetAll: boolean;
}

/**
 * There are no device plugins yet, so what a kubelet before promised in the Node's capacity is no longer there: a pod that
 * was scheduled for it would start without its device.
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
    log.error(error, 'The checkpoint of devices cannot be read, taking all extended resources of the node for gone', {
      path,
    });
    return { devices: none([]), resetAll: true };
  }
}

function none(resources: readonly string[]): NodeDevices {
  const zeros = Object.fromEntries(resources.map((name) => [name, '0']));
  return { capacity: zeros, allocatable: zeros, removed: [] };
}
