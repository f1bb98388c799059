import type { FakeKind } from './kinds.ts';
import { deepFreeze, type Stored } from './json.ts';

/** One write. `before` is missing at the first one of an object, `after` at its last. */
export interface Change {
  readonly version: number;
  readonly kind: FakeKind;
  readonly key: string;
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

/** A state of the store to come back to. */
export interface StoreSnapshot {
  readonly version: number;
  readonly objects: ReadonlyMap<FakeKind, ReadonlyMap<string, Stored>>;
}

type Listener = (change: Change) => void;

const defaultHistory = 10_000;

export function keyOf(namespace: string | undefined, name: string): string {
  return `${namespace ?? ''}/${name}`;
}

/**
 * All objects and how they came to be so. One counter gives every write its version, as etcd does; the history reaches
 * back to `oldest`, and any state since then can be looked at.
 */
export class ObjectStore {
  readonly #listeners = new Set<Listener>();
  readonly #historyLimit: number;
  #objects = new Map<FakeKind, Map<string, Stored>>();
  #history: Change[] = [];
  #version = 1;
  #oldest = 1;

  constructor(historyLimit: number = defaultHistory) {
    this.#historyLimit = historyLimit;
  }

  get version(): number {
    return this.#version;
  }

  /** The first version that can still be listed, or watched from. */
  get oldest(): number {
    return this.#oldest;
  }

  get(kind: FakeKind, key: string): Stored | undefined {
    return this.#objects.get(kind)?.get(key);
  }

  /** By key; of an older version when one is named, which must not be older than `oldest`. */
  all(kind: FakeKind, version: number = this.#version): readonly (readonly [string, Stored])[] {
    const objects = new Map(this.#objects.get(kind));
    for (const change of this.#history.filter((entry) => entry.version > version).toReversed()) {
      if (change.kind !== kind) continue;
      if (change.before === undefined) objects.delete(change.key);
      else objects.set(change.key, change.before);
    }
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  /** The changes after a version. */
  since(version: number): readonly Change[] {
    return this.#history.filter((change) => change.version > version);
  }

  /** Stores an object under the next version, and answers with it. */
  put(kind: FakeKind, key: string, object: Omit<Stored, 'metadata'> & { readonly metadata: object }): Stored {
    const version = this.#version + 1;
    const metadata = { ...object.metadata, resourceVersion: String(version) };
    const after = deepFreeze(structuredClone({ ...object, metadata })) as Stored;
    const before = this.get(kind, key);
    const ofKind = this.#objects.get(kind) ?? new Map<string, Stored>();
    this.#objects.set(kind, ofKind.set(key, after));
    this.#record({ version, kind, key, before, after });
    return after;
  }

  /** What is answered is the last state, with the version of the removal. */
  remove(kind: FakeKind, key: string): Stored | undefined {
    const before = this.get(kind, key);
    if (before === undefined) return undefined;
    const version = this.#version + 1;
    this.#objects.get(kind)?.delete(key);
    this.#record({ version, kind, key, before, after: undefined });
    return lastState(before, version);
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Forgets how things were before now. */
  compact(): void {
    this.#oldest = this.#version;
    this.#history = [];
  }

  snapshot(): StoreSnapshot {
    return { version: this.#version, objects: new Map([...this.#objects].map(([kind, map]) => [kind, new Map(map)])) };
  }

  /** Versions go back too, and are given out a second time. */
  restore({ version, objects }: StoreSnapshot): void {
    this.#objects = new Map([...objects].map(([kind, map]) => [kind, new Map(map)]));
    this.#version = version;
    this.compact();
  }

  #record(change: Change): void {
    this.#version = change.version;
    this.#history.push(change);
    if (this.#history.length > this.#historyLimit) this.#oldest = this.#history.shift()?.version ?? this.#oldest;
    for (const listener of this.#listeners) listener(change);
  }
}

export function lastState(before: Stored, version: number): Stored {
  return { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } };
}
