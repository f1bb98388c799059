import type { Clock } from '../../base/clock.ts';
import type { ApiObject, ObjectRef } from '../../model/api-client.ts';
import { apiResources, type ApiResource } from '../../model/api-resources.ts';
import { isSameJson } from '../../model/strategic-merge-patch.ts';
import type { JsonMap } from '../../model/patch-schema.ts';
import { decideDelete } from './deletes.ts';
import { plain, textAt, type Stored } from './json.ts';
import { kindOfObject, kindOfResource, type FakeKind } from './kinds.ts';
import type { FakeUser } from './new-objects.ts';
import { notFound } from './refusal.ts';
import { keyOf, type ObjectStore } from './store.ts';
import type { Verbs } from './verbs.ts';

const somebody: FakeUser = { name: 'system:test', groups: ['system:masters', 'system:authenticated'] };

/**
 * What everybody else in a cluster does: users, controllers, a scheduler. Everything of an object can be written,
 * status and spec at once and what no update may change; the store keeps what it always keeps.
 */
export class OtherClient {
  readonly #store: ObjectStore;
  readonly #verbs: Verbs;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(store: ObjectStore, verbs: Verbs, clock: Pick<Clock, 'now'>) {
    this.#store = store;
    this.#verbs = verbs;
    this.#clock = clock;
  }

  find<T extends ApiObject>(resource: ApiResource, ref: ObjectRef): T | undefined {
    const kind = kindOfResource(resource);
    const object = this.#store.get(kind, keyIn(kind, ref));
    return object === undefined ? undefined : (plain(object) as ApiObject as T);
  }

  get<T extends ApiObject>(resource: ApiResource, ref: ObjectRef): T {
    const object = this.find<T>(resource, ref);
    if (object === undefined) throw notFound(kindOfResource(resource), ref.name);
    return object;
  }

  all<T extends ApiObject>(resource: ApiResource): readonly T[] {
    return this.#store.all(kindOfResource(resource)).map(([, object]) => plain(object) as ApiObject as T);
  }

  /** Creates an object, or makes the one of that name look like this. Needs `apiVersion` and `kind`. */
  put<T extends ApiObject>(object: T): T {
    const kind = kindOfObject(object);
    const wanted = plain(object) as JsonMap;
    const namespace = kind.namespaced ? textAt(wanted, 'metadata', 'namespace') || 'default' : undefined;
    const key = keyOf(namespace, textAt(wanted, 'metadata', 'name'));
    const present = this.#store.get(kind, key);
    if (present !== undefined) return this.#write(kind, key, present, wanted) as ApiObject as T;
    const created = this.#verbs.insert(kind, namespace, wanted, somebody);
    const { status } = wanted;
    // Whoever puts an object with a status means it.
    const whole = status === undefined || isSameJson(status, created['status']);
    return (whole ? plain(created) : this.#write(kind, key, created, { ...created, status })) as ApiObject as T;
  }

  /** Changes one object; `change` gets a copy, and answers with what shall be there. */
  edit<T extends ApiObject>(resource: ApiResource, ref: ObjectRef, change: (object: T) => T): T {
    const kind = kindOfResource(resource);
    const next = plain(change(this.get<T>(resource, ref))) as JsonMap;
    const key = keyIn(kind, ref);
    const present = this.#store.get(kind, key);
    if (present === undefined) throw notFound(kind, ref.name);
    return this.#write(kind, key, present, next) as ApiObject as T;
  }

  /** As a user does it: a pod on a node gets its grace. */
  remove(resource: ApiResource, ref: ObjectRef, gracePeriodSeconds?: number): void {
    const kind = kindOfResource(resource);
    const key = keyIn(kind, ref);
    const present = this.#store.get(kind, key);
    if (present === undefined) throw notFound(kind, ref.name);
    const decision = decideDelete(kind, present, { gracePeriodSeconds }, this.#clock.now());
    if (decision.kind === 'keep') return;
    if (decision.kind === 'mark') this.#store.put(kind, key, { ...present, metadata: decision.metadata });
    if (decision.kind === 'remove' || decision.thenRemove) this.#store.remove(kind, key);
  }

  /** At once, whatever holds it. */
  wipe(resource: ApiResource, ref: ObjectRef): void {
    const kind = kindOfResource(resource);
    this.#store.remove(kind, keyIn(kind, ref));
  }

  /** What a scheduler does. */
  bind(ref: ObjectRef, node: string): void {
    const kind = kindOfResource(apiResources.pods);
    const pod = this.#store.get(kind, keyIn(kind, ref));
    if (pod === undefined) throw notFound(kind, ref.name);
    this.#verbs.bind(pod, node);
  }

  #write(kind: FakeKind, key: string, present: Stored, wanted: JsonMap): JsonMap {
    const { name, namespace, uid, creationTimestamp, generation } = present.metadata;
    const said = wanted['metadata'] as JsonMap;
    const isNew = kind.hasGeneration === true && !isSameJson(present['spec'], wanted['spec']);
    const metadata = {
      ...said,
      name,
      ...(namespace !== undefined && { namespace }),
      uid,
      creationTimestamp,
      resourceVersion: present.metadata.resourceVersion,
      ...(generation !== undefined && { generation: isNew ? generation + 1 : generation }),
    };
    const next = { ...wanted, metadata };
    return plain(isSameJson(present, next) ? present : this.#store.put(kind, key, next));
  }
}

function keyIn(kind: FakeKind, { namespace, name }: ObjectRef): string {
  return keyOf(kind.namespaced ? (namespace ?? 'default') : undefined, name);
}
