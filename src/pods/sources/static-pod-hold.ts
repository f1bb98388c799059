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

/** What runs already can be without its agent for a moment longer, but not for long: it may end, and want a restart. */
const timeoutMs = 2_000;

/**
 * Holds the first sets of static pods back until the mirrors are known that tell how these pods were: without them a pod
 * that was ready under another agent would be taken for one that has yet to become so. Only pods that run already wait,
 * and only for a moment: static pods need no API server. A newer set of the source takes
 * the place of the one that is held.
 *
 *   empty ──a set with a pod that runs──> holding ──release, or patience is over──> open
 *     └──────────────── any other set, or release ─────────────────────────────────> open
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
