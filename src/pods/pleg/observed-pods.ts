import { raceAbort } from '../../base/abort.ts';
import type { PodUid } from '../../base/ids.ts';
import { SingleFlight } from '../../base/single-flight.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { listedAs, type Listing } from './diff-listing.ts';
import { inspectPod } from './inspect-pod.ts';
import { KnownListing, type KnownItem } from './known-listing.ts';
import type { ObservableRuntime } from './ports.ts';

interface ObservedPodsDeps {
  readonly runtime: ObservableRuntime;
}

/**
 * What the runtime was last seen to have, by pod; the only writer of observations.
 *
 * The rule that keeps the agent from acting on stale news: whoever has acted notes the `moment`, reads with
 * `newerThan(uid, moment)`, and gets an observation that began after it, made on the spot if there is none yet. Moments
 * are counted, not measured: two things within one tick of a clock still have an order.
 */
export class ObservedPods {
  readonly #deps: ObservedPodsDeps;
  readonly #pods = new Map<PodUid, ObservedPod>();
  /** Pods known to have changed since their last look, and when that became known; a look that is over settles it. */
  readonly #changed = new Map<PodUid, number>();
  readonly #looks = new SingleFlight<PodUid, ObservedPod>();
  /** What the runtime has by the last relist and the looks since. */
  readonly #listing = new KnownListing();
  /** When the last relist began; a pod it found unchanged is known as of then. */
  #relistedAt = 0;
  #moment = 0;
  #onLook: () => void = () => {};

  constructor(deps: ObservedPodsDeps) {
    this.#deps = deps;
  }

  /** The present moment: every look that begins from here on is newer. */
  moment(): number {
    return this.#moment;
  }

  /** A relist or a look begins. */
  begin(): number {
    return ++this.#moment;
  }

  /** The newest observation there is, however old. */
  get(uid: PodUid): ObservedPod | undefined {
    return this.#pods.get(uid);
  }

  /** The pods of which the runtime has anything, as far as known. */
  listed(): Listing {
    return this.#listing.pods;
  }

  /** A container of the pod runs, as far as known. */
  runs(uid: PodUid): boolean {
    return (
      this.listed()
        .get(uid)
        ?.items.some(({ state }) => state === 'running') === true
    );
  }

  /** The runtime has been listed as a whole at least once. */
  hasBeenListed(): boolean {
    return this.#relistedAt > 0;
  }

  /** How many pods are known to be in the runtime, or to have changed there. */
  size(): number {
    return new Set([...this.#pods.keys(), ...this.#changed.keys()]).size;
  }

  /** The sandbox or container of this id, as far as known. */
  find(id: string): KnownItem | undefined {
    return this.#listing.find(id);
  }

  /** Whoever holds word of something unknown is told when a look has made more known. There is one listener. */
  onLook(listener: () => void): void {
    this.#onLook = listener;
  }

  /** An observation that began after the moment `since`. An absent pod is an observation too: empty. */
  async newerThan(uid: PodUid, since: number, signal: AbortSignal): Promise<ObservedPod> {
    const known = this.#pods.get(uid);
    if (!this.#changed.has(uid)) {
      if (known !== undefined && Math.max(known.observedAt, this.#relistedAt) > since) return known;
      if (known === undefined && this.#relistedAt > since) return nothingOf(uid, this.#relistedAt);
    }
    return this.look(uid, signal);
  }

  /** Looks at one pod now and keeps what is seen. Looks at one pod that overlap are one look. */
  async look(uid: PodUid, signal: AbortSignal): Promise<ObservedPod> {
    const asked = this.#moment;
    const inspect = (): Promise<ObservedPod> =>
      raceAbort(
        this.#looks.run(uid, () => this.#inspect(uid)),
        signal,
      );
    const seen = await inspect();
    // A look that was already under way when this one was asked for may have missed what it asks about.
    return seen.observedAt > asked ? seen : inspect();
  }

  /**
   * A relist that began at the moment `at` found these pods changed and all others as they were. `isWhole`: the runtime
   * was asked for all it has, and not for the pods alone that are known.
   */
  relisted(at: number, listing: Listing, changed: readonly PodUid[], isWhole: boolean): void {
    this.#relistedAt = at;
    this.#listing.replace(listing);
    if (isWhole) this.#settleAbsent(at);
    for (const uid of changed) this.markChanged(uid);
  }

  /** Whatever is known of the pod is out of date. */
  markChanged(uid: PodUid): void {
    this.#changed.set(uid, this.begin());
  }

  /** Word of a pod may come after its last look, when no worker looks at it any more. A newer list without it settles that. */
  #settleAbsent(at: number): void {
    for (const [uid, since] of this.#changed) {
      if (since < at && !this.#pods.has(uid) && !this.listed().has(uid)) this.#changed.delete(uid);
    }
  }

  async #inspect(uid: PodUid): Promise<ObservedPod> {
    const at = this.begin();
    try {
      const seen = await inspectPod(this.#deps.runtime, uid, at);
      // What became known while it was under way it may have missed.
      if ((this.#changed.get(uid) ?? 0) < at) this.#changed.delete(uid);
      this.#keep(seen);
      return seen;
    } catch (error) {
      if (!this.#changed.has(uid)) this.#changed.set(uid, at);
      throw error;
    }
  }

  /** The listing learns what a look saw, so that the next relist reports only what is news to everybody. */
  #keep(seen: ObservedPod): void {
    if (isEmpty(seen)) {
      this.#pods.delete(seen.uid);
      this.#listing.delete(seen.uid);
    } else {
      this.#pods.set(seen.uid, seen);
      this.#listing.set(seen.uid, listedAs(seen));
    }
    this.#onLook();
  }
}

function isEmpty(pod: ObservedPod): boolean {
  return pod.sandboxes.length === 0 && pod.containers.length === 0;
}

const nothingOf = (uid: PodUid, observedAt: number): ObservedPod => ({
  uid,
  name: '',
  namespace: '',
  observedAt,
  sandboxes: [],
  containers: [],
});
