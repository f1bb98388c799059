import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { Log } from '../../base/log.ts';
import { checkpointedResources, type NodeDevices } from '../../node/index.ts';

/** What device plugins had registered with the kubelet that ran here before. */
export interface FormerDevices {
  /** Their resources, none of which can be given to containers. */
  readonly devices: NodeDevices;
  /** Extended resources of a Node that is there already are stale: nothing here says which were of plugins. */
  readonly resetAll: boolean;
}

const maxBytes = 16 << 20;

/**
 * There are no device plugins yet, so what a kubelet before promised in the Node's capacity is no longer there: a pod that
 * was scheduled for it would start without its device.
 */
export function formerDevices(rootDir: string, log: Log): FormerDevices {
  const folder = `${rootDir}/device-plugins`;
  const path = `${folder}/kubelet_internal_checkpoint`;
  const text = checkpointText(folder, path, log);
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

function checkpointText(folder: string, path: string, log: Log): string | undefined {
  try {
    if (!readdirSync(folder).includes('kubelet_internal_checkpoint')) return undefined;
    if (statSync(path).size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    log.error(error, 'The checkpoint of devices cannot be read', { path });
    return undefined;
  }
}

function none(resources: readonly string[]): NodeDevices {
  const zeros = Object.fromEntries(resources.map((name) => [name, '0']));
  return { capacity: zeros, allocatable: zeros, removed: [] };
}
