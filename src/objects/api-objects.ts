import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import type { PodUid } from '../base/ids.ts';
import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import type { PerPodState } from '../model/pod-removal.ts';
import { objectKey, type DataObjectKind, type DataObjectReference } from '../model/standalone-object.ts';
import { computeBudget, objectLimits, type BudgetRefusal, type ObjectLimits } from './compute-budget.ts';
import type { CachedObject, ObjectCache, ReferringPod, ResourceInbox } from './ports.ts';
import { references } from './references.ts';

interface ApiObjectsDeps {
  readonly clock: Clock;
  /** Caches one object, by the configured strategy. */
  readonly cache: ObjectCache;
  /** Wakes only the pods that name an object that was created, changed or deleted. */
  readonly inbox: ResourceInbox;
  readonly limits?: ObjectLimits;
}

/** An object that some pod names. */
interface NamedObject {
  readonly reference: DataObjectReference;
  readonly users: Set<PodUid>;
  /** Absent while no pod that names it may have it. */
  cached: CachedObject | undefined;
}

/** How long a pod waits for objects that have not been read yet. They usually arrive within milliseconds. */
const waitMs = 1_000;
/** Objects that exceeded the budget may have shrunk. Reading them again is expensive, so it happens rarely. */
const retryRefusedMs = 300_000;

/**
 * The ConfigMaps and Secrets of the pods on this node, each cached for as long as a pod names it; the only writer of the
 * cache. The API server lets a node read no others. A pod whose objects exceed the budget has none of them, and `problem`
 * says why.
 */
export class ApiObjects implements Component, PerPodState {
  readonly name = 'api-objects';
  readonly #deps: ApiObjectsDeps;
  readonly #limits: ObjectLimits;
  readonly #objects = new Map<string, NamedObject>();
  /** What each pod names, in the order in which the pods came. */
  readonly #pods = new Map<PodUid, readonly string[]>();
  /** The size of each object when it was last read; also of those that are not cached. */
  readonly #contentBytes = new Map<string, number>();
  #refusals: ReadonlyMap<PodUid, BudgetRefusal> = new Map();
  readonly #refusedAt = new Map<PodUid, number>();
  /** Syncs that wait for an object to arrive. */
  readonly #waiters = new Set<() => void>();

  constructor(deps: ApiObjectsDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? objectLimits;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    for (const { cached } of this.#objects.values()) cached?.release();
    this.#objects.clear();
    this.#pods.clear();
  }

  /**
   * Caches what the pod names from now on, and waits a moment for what is missing. It never fails: `problem` says of each
   * object whether it does not exist or could not be read.
   */
  async ready(pod: ReferringPod, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    this.#expireRefusal(pod.uid);
    this.hold(pod);
    await Promise.all(this.#cachedFor(pod.uid).map((cached) => cached.refresh(signal)));
    const deadline = clock.monotonic() + waitMs;
    for (;;) {
      const leftMs = deadline - clock.monotonic();
      if (this.#refusals.has(pod.uid) || leftMs <= 0) return;
      if (this.#cachedFor(pod.uid).every((cached) => cached.known())) return;
      await this.#waitForArrival(leftMs, signal);
    }
  }

  /** Counts the pod among the users of what it names now, and of nothing else. */
  hold(pod: ReferringPod): void {
    const named = references(pod);
    const keys = named.map(objectKey);
    const before = this.#pods.get(pod.uid) ?? [];
    this.#pods.set(pod.uid, keys);
    for (const reference of named) this.#use(reference, pod.uid);
    const now = new Set(keys);
    this.#drop(
      pod.uid,
      before.filter((key) => !now.has(key)),
    );
    if (before.length !== keys.length || before.some((key) => !now.has(key))) this.#decide();
  }

  /** The pod is removed: objects that only it named are not cached any more. */
  forget(uid: PodUid): void {
    const keys = this.#pods.get(uid);
    if (keys === undefined) return;
    this.#pods.delete(uid);
    this.#refusedAt.delete(uid);
    this.#drop(uid, keys);
    this.#decide();
  }

  size(): number {
    return this.#pods.size;
  }

  configMap(namespace: string, name: string): ConfigMap | undefined {
    return this.#get('ConfigMap', namespace, name)?.cached?.current();
  }

  secret(namespace: string, name: string): Secret | undefined {
    return this.#get('Secret', namespace, name)?.cached?.current();
  }

  /** Why an object that `configMap` or `secret` does not return may exist all the same. */
  problem(kind: DataObjectKind, namespace: string, name: string): string | undefined {
    const named = this.#get(kind, namespace, name);
    if (named === undefined || named.cached?.known() === true) return undefined;
    const refusal = [...named.users].map((uid) => this.#refusals.get(uid)).find((one) => one !== undefined);
    const lastError = named.cached?.lastError() ?? 'timed out waiting for the condition';
    const reason = named.cached === undefined && refusal !== undefined ? refusal.message : lastError;
    return `failed to sync ${kind.toLowerCase()} cache: ${reason}`;
  }

  #get(kind: DataObjectKind, namespace: string, name: string): NamedObject | undefined {
    return this.#objects.get(objectKey({ kind, namespace, name }));
  }

  #cachedFor(uid: PodUid): readonly CachedObject[] {
    return (this.#pods.get(uid) ?? []).flatMap((key) => this.#objects.get(key)?.cached ?? []);
  }

  #use(reference: DataObjectReference, uid: PodUid): void {
    const key = objectKey(reference);
    const known = this.#objects.get(key);
    if (known !== undefined) known.users.add(uid);
    else this.#objects.set(key, { reference, users: new Set([uid]), cached: undefined });
  }

  #drop(uid: PodUid, keys: readonly string[]): void {
    for (const key of keys) {
      const named = this.#objects.get(key);
      named?.users.delete(uid);
      if (named === undefined || named.users.size > 0) continue;
      named.cached?.release();
      this.#objects.delete(key);
      this.#contentBytes.delete(key);
    }
  }

  /** Adapts the cache to what the budget allows each pod. */
  #decide(): void {
    const before = this.#refusals;
    this.#refusals = computeBudget(this.#pods, this.#contentBytes, this.#limits);
    const now = this.#deps.clock.monotonic();
    for (const uid of this.#refusals.keys()) if (!before.has(uid)) this.#refusedAt.set(uid, now);
    const cached: [string, NamedObject][] = [];
    for (const [key, named] of this.#objects) {
      if ([...named.users].some((uid) => !this.#refusals.has(uid))) cached.push([key, named]);
      else {
        named.cached?.release();
        named.cached = undefined;
      }
    }
    // Released before others are cached, so that both never exceed the budget together.
    for (const [key, named] of cached) named.cached ??= this.#cache(key, named);
    const concerned = [...new Set([...before.keys(), ...this.#refusals.keys()])].filter(
      (uid) => this.#pods.has(uid) && before.has(uid) !== this.#refusals.has(uid),
    );
    if (concerned.length > 0) this.#notify(concerned);
  }

  #cache(key: string, { reference, users }: NamedObject): CachedObject {
    const onContent = (bytes: number): void => {
      if (this.#contentBytes.get(key) === bytes) return;
      this.#contentBytes.set(key, bytes);
      this.#decide();
    };
    return this.#deps.cache(reference, () => this.#notify([...users]), onContent);
  }

  #notify(uids: readonly PodUid[]): void {
    for (const wake of this.#waiters) wake();
    this.#deps.inbox.resourcesChanged(uids);
  }

  /** Drops a pod's refusal after a while, so that its objects are read once more. */
  #expireRefusal(uid: PodUid): void {
    const since = this.#refusedAt.get(uid);
    if (since === undefined || this.#refusals.get(uid)?.because !== 'pod') return;
    if (this.#deps.clock.monotonic() - since < retryRefusedMs) return;
    for (const key of this.#pods.get(uid) ?? []) {
      if (this.#objects.get(key)?.cached === undefined) this.#contentBytes.delete(key);
    }
    this.#decide();
  }

  #waitForArrival(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const leave = (): void => {
        this.#waiters.delete(arrived);
        signal.removeEventListener('abort', givenUp);
        cancel();
      };
      const arrived = (): void => {
        leave();
        resolve();
      };
      const givenUp = (): void => {
        leave();
        reject(signal.reason);
      };
      const cancel = clock.after(ms, arrived);
      this.#waiters.add(arrived);
      signal.addEventListener('abort', givenUp, { once: true });
    });
  }
}
