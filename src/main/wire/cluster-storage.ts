import type { EventRecorder } from '../../apiserver/events/index.ts';
import type { HttpApiClient, Reflector } from '../../apiserver/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { CSIDriver, Node, NodeStatus } from '../../gen/kubernetes/types.ts';
import { AttachWait, mirroredDriverObjects } from '../../volumes/csi/index.ts';
import type { ClusterStorage } from './csi-volumes.ts';

export interface ClusterStorageWiring {
  readonly clock: Clock;
  readonly api: HttpApiClient;
  readonly nodeName: string;
  readonly node: Pick<Reflector<Node>, 'get' | 'listen'>;
  readonly drivers: Pick<Reflector<CSIDriver>, 'get' | 'synced' | 'listen'>;
  readonly recorder: Pick<EventRecorder, 'record'>;
  /** What the cluster says of drivers has changed: volumes that waited for it may go on. */
  readonly onChange: () => void;
}

/** What the API server knows of storage drivers, of what is attached to this node, and of claims. */
export function wireClusterStorage(wiring: ClusterStorageWiring): ClusterStorage {
  const { clock, api, nodeName, node, drivers, recorder, onChange } = wiring;
  const status = (): NodeStatus | undefined => node.get({ name: nodeName })?.status;
  const attachments = new AttachWait({
    clock,
    api,
    nodeName,
    node: {
      isReportedInUse: (name) => status()?.volumesInUse?.includes(name) === true,
      isAttached: (name) => status()?.volumesAttached?.some((attached) => attached.name === name) === true,
    },
  });
  node.listen(() => attachments.changed());
  drivers.listen(onChange);
  return {
    api,
    objects: mirroredDriverObjects(drivers),
    attachments,
    claimEvents: { record: (about, event) => recorder.record({ about, ...event }) },
  };
}
