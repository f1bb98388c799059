import type { CancelTimer, Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { PodUid } from '../../base/ids.ts';
import type { DesiredPod, PodSource } from '../../model/desired-pod.ts';

interface StaticPodHoldDeps {
  readonly clock: Pick<Clock, 'after'>;
  /** Whether anything of a pod runs already. */
  readonly runs: (uid: PodUid) => boolean;
  readonly onSet: (source: PodSource, pods: readonly DesiredPod[]) => void;
}

/** Pods that run already can wait this long, not longer: a container may end, and needs its restart. */
const timeoutMs = 2_000;

/**
 * Holds the first sets of static pods back until the mirror pods are known, which have the statuses of these pods: without
 * them a pod that was ready under another agent would become unready. Only pods that run already wait, two seconds at
 * most, because static pods must not need an API server. A newer set of a source replaces the one that is held.
 *
 *   empty ──a set with a pod that runs──> holding ──────release, or timeout──────> open
 *     └─────────────── any other set, or release ────────────────────────────────> open
 */
export class StaticPodHold implements Component {
  readonly name = 'static-pods';
  readonly #deps: StaticPodHoldDeps;
  readonly #held = new Map<PodSource, readonly DesiredPod[]>();
  #cancelTimer: CancelTimer | undefined;
  #open = false;
  #waiters: (() => void)[] = [];

  constructor(deps: StaticPodHoldDeps) {
    this.#deps = deps;
  }

  /** Returns when nothing is held. */
  async start(): Promise<void> {
    if (this.#held.size > 0) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  async stop(): Promise<void> {
    this.#cancelTimer?.();
    this.#held.clear();
    this.#wake();
  }

  set(source: PodSource, pods: readonly DesiredPod[]): void {
    const { clock, runs, onSet } = this.#deps;
    if (this.#open || !pods.some(({ uid }) => runs(uid))) {
      // A set that is held is older than this one, and must not come after it.
      this.#held.delete(source);
      if (this.#held.size === 0) this.#wake();
      onSet(source, pods);
      return;
    }
    this.#held.set(source, pods);
    this.#cancelTimer ??= clock.after(timeoutMs, () => this.release());
  }

  /** The mirrors are known. */
  release(): void {
    if (this.#open) return;
    this.#open = true;
    this.#cancelTimer?.();
    for (const [source, pods] of this.#held) this.#deps.onSet(source, pods);
    this.#held.clear();
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
