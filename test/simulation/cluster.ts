import type { PodUid } from '../../src/base/ids.ts';
import type { Lease, Node, Pod } from '../../src/gen/kubernetes/types.ts';
import { apiResources } from '../../src/model/api-resources.ts';
import type { FakeApiServer } from '../../src/testing/fake-api-server/index.ts';
import { nodeName } from '../support/agent-settings.ts';
import type { PodPlan } from './pod-plans.ts';
import { csiDriver, type Storage } from './storage.ts';

/** How somebody wants a pod to end. */
interface Deletion {
  readonly graceSeconds: number;
  readonly since: number;
  /** What was asked before: an agent that has not heard the last word goes by one of these. */
  readonly before: readonly number[];
}

const namespace = 'default';
const simDriver = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'CSIDriver',
  metadata: { name: csiDriver },
  spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Persistent', 'Ephemeral'] },
};

/** What everybody else does in the cluster: users, a scheduler, controllers. */
export class Cluster {
  readonly server: FakeApiServer;
  readonly #now: () => number;
  readonly #deletions = new Map<PodUid, Deletion>();

  constructor(server: FakeApiServer, storage: Storage, now: () => number) {
    this.server = server;
    this.#now = now;
    server.objects.put(simDriver);
    for (const [place, object] of storage.claims.objects) {
      const kind = place.startsWith('persistentvolumeclaims/') ? 'PersistentVolumeClaim' : 'PersistentVolume';
      server.objects.put({ apiVersion: 'v1', kind, ...object });
    }
    this.putObjects(storage);
  }

  /** The ConfigMap and the Secret as they are now. */
  putObjects(storage: Storage): void {
    for (const { kind, object } of storage.objects()) this.server.objects.put({ apiVersion: 'v1', kind, ...object });
  }

  /** A pod that somebody made and the scheduler bound here, or that somebody has changed. */
  put({ uid, name, pod }: PodPlan): void {
    const spec = { ...pod.spec, nodeName };
    this.server.objects.put<Pod>({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, uid }, spec });
  }

  /** The same pod with other images. */
  update({ name, pod }: PodPlan): void {
    const images = new Map(pod.spec.containers.map((container) => [container.name, container.image]));
    this.server.objects.edit<Pod>(apiResources.pods, { namespace, name }, (present) => {
      const containers = (present.spec?.containers ?? []).map((container) => {
        const image = images.get(container.name);
        return { ...container, ...(image !== undefined && { image }) };
      });
      return { ...present, spec: { ...present.spec, containers } };
    });
  }

  /** Asks for a deletion; asking again can only make it sooner. */
  delete({ uid, name }: PodPlan, graceSeconds: number): void {
    const known = this.#deletions.get(uid);
    if (known === undefined || known.graceSeconds > graceSeconds) {
      const before = known === undefined ? [] : [...known.before, known.graceSeconds];
      this.#deletions.set(uid, { graceSeconds, since: this.#now(), before });
    }
    this.server.objects.remove(apiResources.pods, { namespace, name }, graceSeconds);
  }

  /** By force: nobody waits for its end. */
  wipe({ name }: PodPlan): void {
    this.server.objects.wipe(apiResources.pods, { namespace, name });
  }

  deletionOf(uid: PodUid): Deletion | undefined {
    return this.#deletions.get(uid);
  }

  pod(name: string): Pod | undefined {
    return this.server.objects.find<Pod>(apiResources.pods, { namespace, name });
  }

  pods(): readonly Pod[] {
    return this.server.objects.all<Pod>(apiResources.pods);
  }

  node(): Node | undefined {
    return this.server.objects.find<Node>(apiResources.nodes, { name: nodeName });
  }

  lease(): Lease | undefined {
    return this.server.objects.find<Lease>(apiResources.leases, { namespace: 'kube-node-lease', name: nodeName });
  }
}
