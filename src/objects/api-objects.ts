import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import type { PodUid } from '../base/ids.ts';
import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import type { PerPodState } from '../model/pod-removal.ts';
import { objectKey, type DataObjectKind, type DataObjectReference } from '../model/standalone-object.ts';
import { computeBudget, objectLimits, type BudgetRefusal, type ObjectLimits } from './compute-budget.ts';
import type { KeptObject, ObjectKeeper, ReferringPod, ResourceInbox } from './ports.ts';
import { references } from './references.ts';

interface ApiObjectsDeps {
  readonly clock: Clock;
  /** Keeps one object at hand, by whatever strategy is configured. */
  readonly keep: ObjectKeeper;
  /** An object came, changed or went: the pods that name it, and no others, look again. */
  readonly inbox: ResourceInbox;
  readonly limits?: ObjectLimits;
}

/** An object that some pod names. */
interface Named {
  readonly reference: DataObjectReference;
  readonly users: Set<PodUid>;
  /** Absent while no pod that names it may have it. */
  kept: KeptObject | undefined;
}

/** How long a pod waits for objects nothing is known of yet. They usually come within milliseconds. */
const waitMs = 1_000;
/** Objects that were too much may have become less: they are looked at again, but not often, for that is dear. */
const retryRefusedMs = 300_000;

/**
 * The ConfigMaps and Secrets of the pods on this node, each kept for as long as a pod names it; the only writer of that
 * fact. The API server lets a node read no others. A pod whose objects are too much for the node has none of them, and
 * whoever reads one is told why.
 */
export class ApiObjects implements Component, PerPodState {
  readonly name = 'api-objects';
  readonly #deps: ApiObjectsDeps;
  readonly #limits: ObjectLimits;
  readonly #objects = new Map<string, Named>();
  /** What each pod names, in the order in which the pods came. */
  readonly #pods = new Map<PodUid, readonly string[]>();
  /** How much there is in each object, as last seen; also of those that are not kept. */
  readonly #contentBytes = new Map<string, number>();
  #refusals: ReadonlyMap<PodUid, BudgetRefusal> = new Map();
  readonly #refusedAt = new Map<PodUid, number>();
  /** Those who wait for something to arrive. */
  readonly #waiters = new Set<() => void>();

  constructor(deps: ApiObjectsDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? objectLimits;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    for (const { kept } of this.#objects.values()) kept?.release();
    this.#objects.clear();
    this.#pods.clear();
  }

  /**
   * Keeps what the pod names from now on, and waits a moment for what is not at hand. It never fails: who reads an object
   * afterwards learns whether it is there, is not, or could not be asked for.
   */
  async ready(pod: ReferringPod, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    this.#doubtRefusal(pod.uid);
    this.hold(pod);
    await Promise.all(this.#keptFor(pod.uid).map((kept) => kept.refresh(signal)));
    const deadline = clock.monotonic() + waitMs;
    for (;;) {
      const leftMs = deadline - clock.monotonic();
      if (this.#refusals.has(pod.uid) || leftMs <= 0) return;
      if (this.#keptFor(pod.uid).every((kept) => kept.known())) return;
      await this.#arrival(leftMs, signal);
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

  /** The pod is gone: what only it named is not kept any more. */
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
    return this.#get('ConfigMap', namespace, name)?.kept?.current();
  }

  secret(namespace: string, name: string): Secret | undefined {
    return this.#get('Secret', namespace, name)?.kept?.current();
  }

  /** Why an object that `configMap` or `secret` does not have may be there all the same. */
  problem(kind: DataObjectKind, namespace: string, name: string): string | undefined {
    const named = this.#get(kind, namespace, name);
    if (named === undefined || named.kept?.known() === true) return undefined;
    const refusal = [...named.users].map((uid) => this.#refusals.get(uid)).find((one) => one !== undefined);
    const unheard = named.kept?.lastError() ?? 'timed out waiting for the condition';
    const why = named.kept === undefined && refusal !== undefined ? refusal.message : unheard;
    return `failed to sync ${kind.toLowerCase()} cache: ${why}`;
  }

  #get(kind: DataObjectKind, namespace: string, name: string): Named | undefined {
    return this.#objects.get(objectKey({ kind, namespace, name }));
  }

  #keptFor(uid: PodUid): readonly KeptObject[] {
    return (this.#pods.get(uid) ?? []).flatMap((key) => this.#objects.get(key)?.kept ?? []);
  }

  #use(reference: DataObjectReference, uid: PodUid): void {
    const key = objectKey(reference);
    const known = this.#objects.get(key);
    if (known !== undefined) known.users.add(uid);
    else this.#objects.set(key, { reference, users: new Set([uid]), kept: undefined });
  }

  #drop(uid: PodUid, keys: readonly string[]): void {
    for (const key of keys) {
      const named = this.#objects.get(key);
      named?.users.delete(uid);
      if (named === undefined || named.users.size > 0) continue;
      named.kept?.release();
      this.#objects.delete(key);
      this.#contentBytes.delete(key);
    }
  }

  /** Makes what is kept fit what the pods may have. */
  #decide(): void {
    const before = this.#refusals;
    this.#refusals = computeBudget(this.#pods, this.#contentBytes, this.#limits);
    const now = this.#deps.clock.monotonic();
    for (const uid of this.#refusals.keys()) if (!before.has(uid)) this.#refusedAt.set(uid, now);
    const kept: [string, Named][] = [];
    for (const [key, named] of this.#objects) {
      if ([...named.users].some((uid) => !this.#refusals.has(uid))) kept.push([key, named]);
      else {
        named.kept?.release();
        named.kept = undefined;
      }
    }
    // What is let go of comes first.
    for (const [key, named] of kept) named.kept ??= this.#keep(key, named);
    const concerned = [...new Set([...before.keys(), ...this.#refusals.keys()])].filter(
      (uid) => this.#pods.has(uid) && before.has(uid) !== this.#refusals.has(uid),
    );
    if (concerned.length > 0) this.#news(concerned);
  }

  #keep(key: string, { reference, users }: Named): KeptObject {
    const onContent = (bytes: number): void => {
      if (this.#contentBytes.get(key) === bytes) return;
      this.#contentBytes.set(key, bytes);
      this.#decide();
    };
    return this.#deps.keep(reference, () => this.#news([...users]), onContent);
  }

  #news(uids: readonly PodUid[]): void {
    for (const wake of this.#waiters) wake();
    this.#deps.inbox.resourcesChanged(uids);
  }

  /** A pod that asked for too much is believed to do so for a while, and then its objects are looked at once more. */
  #doubtRefusal(uid: PodUid): void {
    const since = this.#refusedAt.get(uid);
    if (since === undefined || this.#refusals.get(uid)?.because !== 'pod') return;
    if (this.#deps.clock.monotonic() - since < retryRefusedMs) return;
    for (const key of this.#pods.get(uid) ?? []) {
      if (this.#objects.get(key)?.kept === undefined) this.#contentBytes.delete(key);
    }
    this.#decide();
  }

  #arrival(ms: number, signal: AbortSignal): Promise<void> {
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
