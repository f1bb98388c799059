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
 * The rule that keeps the agent from acting on stale observations: a worker that has acted notes `observationSeq()`, reads
 * with `newerThan(uid, seq)`, and gets an observation that began after it, made at once if there is none yet. Observations
 * are numbered, not timed: two of them within one tick of a clock still have an order.
 */
export class ObservedPods {
  readonly #deps: ObservedPodsDeps;
  readonly #pods = new Map<PodUid, ObservedPod>();
  /** Pods known to have changed since they were last inspected, with the number of that notice; an inspection clears it. */
  readonly #changed = new Map<PodUid, number>();
  readonly #inspections = new SingleFlight<PodUid, ObservedPod>();
  /** What the runtime has by the last relist and the inspections since. */
  readonly #listing = new KnownListing();
  /** The number of the last relist; a pod that it found unchanged is known as of then. */
  #relistedAt = 0;
  /** The number of the last relist for which the runtime listed all it has: a pod that is not in it is absent. */
  #relistedWholeAt = 0;
  #seq = 0;
  #onInspected: () => void = () => {};

  constructor(deps: ObservedPodsDeps) {
    this.#deps = deps;
  }

  /** The number of the last observation: every one that begins from here on has a higher one. */
  observationSeq(): number {
    return this.#seq;
  }

  /** A relist or an inspection begins: its number. */
  begin(): number {
    return ++this.#seq;
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

  /** Called after each inspection: events of containers that were unknown may be classified now. There is one listener. */
  onInspected(listener: () => void): void {
    this.#onInspected = listener;
  }

  /** An observation with a higher number than `since`. An absent pod is an observation too: empty. */
  async newerThan(uid: PodUid, since: number, signal: AbortSignal): Promise<ObservedPod> {
    const known = this.#pods.get(uid);
    if (!this.#changed.has(uid)) {
      if (known !== undefined && Math.max(known.observedAt, this.#relistedAt) > since) return known;
      if (known === undefined && this.#relistedWholeAt > since) return emptyObservation(uid, this.#relistedWholeAt);
    }
    return this.inspect(uid, signal);
  }

  /** Inspects one pod now and keeps what is seen. Overlapping calls for one pod share one inspection. */
  async inspect(uid: PodUid, signal: AbortSignal): Promise<ObservedPod> {
    const since = this.#seq;
    const inspectShared = (): Promise<ObservedPod> =>
      raceAbort(
        this.#inspections.run(uid, () => this.#inspectNow(uid)),
        signal,
      );
    const seen = await inspectShared();
    // An inspection that was already under way at the call may have missed what the caller asks about.
    return seen.observedAt > since ? seen : inspectShared();
  }

  /**
   * A relist with the number `at` found these pods changed and all others as they were. `isWhole`: the runtime was asked
   * for all it has, not only for the pods that are known.
   */
  relisted(at: number, listing: Listing, changed: readonly PodUid[], isWhole: boolean): void {
    this.#relistedAt = at;
    this.#listing.replace(listing);
    if (isWhole) {
      this.#relistedWholeAt = at;
      this.#forgetAbsent(at);
    }
    for (const uid of changed) this.markChanged(uid);
  }

  /** The observation of the pod is out of date. */
  markChanged(uid: PodUid): void {
    this.#changed.set(uid, this.begin());
  }

  /** An event may come after a pod's worker has ended, so that no inspection clears it; a newer list without the pod does. */
  #forgetAbsent(at: number): void {
    for (const [uid, since] of this.#changed) {
      if (since < at && !this.#pods.has(uid) && !this.listed().has(uid)) this.#changed.delete(uid);
    }
  }

  async #inspectNow(uid: PodUid): Promise<ObservedPod> {
    const at = this.begin();
    try {
      const seen = await inspectPod(this.#deps.runtime, uid, at);
      // The inspection may have missed a change that became known while it was under way.
      if ((this.#changed.get(uid) ?? 0) < at) this.#changed.delete(uid);
      this.#store(seen);
      return seen;
    } catch (error) {
      if (!this.#changed.has(uid)) this.#changed.set(uid, at);
      throw error;
    }
  }

  /** The listing takes in what an inspection saw, so that the next relist reports only what no inspection has seen. */
  #store(seen: ObservedPod): void {
    if (isEmpty(seen)) {
      this.#pods.delete(seen.uid);
      this.#listing.delete(seen.uid);
    } else {
      this.#pods.set(seen.uid, seen);
      this.#listing.set(seen.uid, listedAs(seen));
    }
    this.#onInspected();
  }
}

function isEmpty(pod: ObservedPod): boolean {
  return pod.sandboxes.length === 0 && pod.containers.length === 0;
}

const emptyObservation = (uid: PodUid, observedAt: number): ObservedPod => ({
  uid,
  name: '',
  namespace: '',
  observedAt,
  sandboxes: [],
  containers: [],
});
