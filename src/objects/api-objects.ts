import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import type { PodUid } from '../base/ids.ts';
import type { ConfigMap, Secret } from '../gen/kubernetes/types.ts';
import { objectKey, type DataObjectKind, type DataObjectReference } from '../model/standalone-object.ts';
import type { KeptObject, ObjectKeeper, ReferringPod } from './ports.ts';
import { references } from './references.ts';

export interface ApiObjectsDeps {
  readonly clock: Clock;
  /** Keeps one object at hand, by whatever strategy is configured. */
  readonly keep: ObjectKeeper;
  /** An object came, changed or went: the pods that name it, and no others, look again. */
  readonly onChange: (uids: readonly PodUid[]) => void;
}

interface Held {
  readonly users: Set<PodUid>;
  readonly kept: KeptObject;
}

/** How long a pod waits for objects nothing is known of yet. They usually come within milliseconds. */
const waitMs = 1_000;

/**
 * The ConfigMaps and Secrets of the pods on this node, each kept for as long as a pod names it; the only writer of that
 * fact. The API server lets a node read no others.
 */
export class ApiObjects implements Component {
  readonly name = 'api-objects';
  readonly #deps: ApiObjectsDeps;
  readonly #held = new Map<string, Held>();
  readonly #named = new Map<PodUid, readonly string[]>();
  /** Those who wait for something to arrive. */
  readonly #waiters = new Set<() => void>();

  constructor(deps: ApiObjectsDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    for (const { kept } of this.#held.values()) kept.release();
    this.#held.clear();
    this.#named.clear();
  }

  /**
   * Keeps what the pod names from now on, and waits a moment for what is not at hand. It never fails: who reads an object
   * afterwards learns whether it is there, is not, or could not be asked for.
   */
  async ready(pod: ReferringPod, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const wanted = this.hold(pod);
    await Promise.all(wanted.map(({ kept }) => kept.refresh(signal)));
    const deadline = clock.monotonic() + waitMs;
    for (;;) {
      const leftMs = deadline - clock.monotonic();
      if (wanted.every(({ kept }) => kept.known()) || leftMs <= 0) return;
      await this.#arrival(leftMs, signal);
    }
  }

  /** Counts the pod among the users of what it names now, and of nothing else. */
  hold(pod: ReferringPod): readonly Held[] {
    const named = references(pod);
    const held = named.map((reference) => this.#use(reference, pod.uid));
    const keys = named.map(objectKey);
    const before = this.#named.get(pod.uid) ?? [];
    this.#named.set(pod.uid, keys);
    this.#drop(
      pod.uid,
      before.filter((key) => !keys.includes(key)),
    );
    return held;
  }

  /** The pod is gone: what only it named is not kept any more. */
  release(uid: PodUid): void {
    this.#drop(uid, this.#named.get(uid) ?? []);
    this.#named.delete(uid);
  }

  configMap(namespace: string, name: string): ConfigMap | undefined {
    return this.#get('ConfigMap', namespace, name)?.current();
  }

  secret(namespace: string, name: string): Secret | undefined {
    return this.#get('Secret', namespace, name)?.current();
  }

  /** Why an object that `configMap` or `secret` does not have may be there all the same. */
  problem(kind: DataObjectKind, namespace: string, name: string): string | undefined {
    const kept = this.#get(kind, namespace, name);
    if (kept === undefined || kept.known()) return undefined;
    const why = kept.lastError() ?? 'timed out waiting for the condition';
    return `failed to sync ${kind.toLowerCase()} cache: ${why}`;
  }

  #get(kind: DataObjectKind, namespace: string, name: string): KeptObject | undefined {
    return this.#held.get(objectKey({ kind, namespace, name }))?.kept;
  }

  #use(reference: DataObjectReference, uid: PodUid): Held {
    const key = objectKey(reference);
    const known = this.#held.get(key);
    if (known !== undefined) {
      known.users.add(uid);
      return known;
    }
    const users = new Set([uid]);
    const kept = this.#deps.keep(reference, () => {
      for (const wake of this.#waiters) wake();
      this.#deps.onChange([...users]);
    });
    const held = { users, kept };
    this.#held.set(key, held);
    return held;
  }

  #drop(uid: PodUid, keys: readonly string[]): void {
    for (const key of keys) {
      const held = this.#held.get(key);
      held?.users.delete(uid);
      if (held === undefined || held.users.size > 0) continue;
      held.kept.release();
      this.#held.delete(key);
    }
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
