import type { ApiObject, MirrorChange, ObjectRef } from '../model/api-client.ts';

export type Transform<T extends ApiObject> = (object: T, previous: T | undefined) => T;

/** Objects by namespace and name. Every mutation returns its changes, in the order in which they must be published. */
export class MirrorStore<T extends ApiObject> {
  readonly #transform: Transform<T>;
  #objects = new Map<string, T>();

  constructor(transform: Transform<T> = (object) => object) {
    this.#transform = transform;
  }

  get(ref: ObjectRef): T | undefined {
    return this.#objects.get(keyOf(ref));
  }

  all(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** A list is complete: objects that are not in it were removed. Unchanged objects stay the very same object. */
  replace(items: readonly T[]): readonly MirrorChange<T>[] {
    const before = this.#objects;
    const after = new Map<string, T>();
    const changes: MirrorChange<T>[] = [];
    for (const item of items) {
      const key = keyOfObject(item);
      const previous = before.get(key);
      const same = previous !== undefined && isSameVersion(previous, item);
      const object = same ? previous : this.#frozen(item);
      after.set(key, object);
      if (!same) changes.push(...changesOf(previous, object));
    }
    const removed = [...before].filter(([key]) => !after.has(key));
    this.#objects = after;
    return [
      { type: 'replaced' },
      ...removed.map(([, object]): MirrorChange<T> => ({ type: 'removed', object })),
      ...changes,
    ];
  }

  put(item: T): readonly MirrorChange<T>[] {
    const key = keyOfObject(item);
    const previous = this.#objects.get(key);
    if (previous !== undefined && isSameVersion(previous, item)) return [];
    const object = this.#frozen(item);
    this.#objects.set(key, object);
    return changesOf(previous, object);
  }

  /** The change carries the object's last state, which the server sends with its deletion. */
  remove(item: T): readonly MirrorChange<T>[] {
    const key = keyOfObject(item);
    const previous = this.#objects.get(key);
    // A late deletion of an older object of that name is not the deletion of the current one.
    if (previous === undefined || previous.metadata?.uid !== item.metadata?.uid) return [];
    this.#objects.delete(key);
    return [{ type: 'removed', object: this.#frozen(item) }];
  }

  /** The form in which an item would be stored now. */
  kept(item: T): T {
    const previous = this.#objects.get(keyOfObject(item));
    const isSame = previous?.metadata?.uid === item.metadata?.uid;
    return this.#transform(item, isSame ? previous : undefined);
  }

  #frozen(item: T): T {
    return Object.freeze(this.kept(item));
  }
}

/** Another uid under the same name is another object: the deletion of the old one was missed. */
function changesOf<T extends ApiObject>(previous: T | undefined, object: T): readonly MirrorChange<T>[] {
  if (previous !== undefined && previous.metadata?.uid !== object.metadata?.uid) {
    return [
      { type: 'removed', object: previous },
      { type: 'put', object, previous: undefined },
    ];
  }
  return [{ type: 'put', object, previous }];
}

function isSameVersion(a: ApiObject, b: ApiObject): boolean {
  return a.metadata?.resourceVersion === b.metadata?.resourceVersion && a.metadata?.uid === b.metadata?.uid;
}

function keyOf({ namespace, name }: ObjectRef): string {
  return `${namespace ?? ''}/${name}`;
}

function keyOfObject({ metadata }: ApiObject): string {
  return `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
}

/** A transform: managed fields are half of an object's size, and no code here reads them. */
export function withoutManagedFields<T extends ApiObject>(object: T): T {
  if (object.metadata?.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
