import type { PodUid } from '../base/ids.ts';

interface UnknownPodsDeps {
  readonly sources: { sourcesReady(): boolean };
  readonly desired: { has(uid: PodUid): boolean };
  readonly lifecycles: { knows(uid: PodUid): boolean };
  readonly observed: { hasBeenListed(): boolean; listed(): ReadonlyMap<PodUid, unknown> };
  readonly directories: { uids(): Promise<ReadonlySet<string>> };
}

/** Whether a pod is unknown to this node, so that what an earlier life of it left can be removed. */
export class UnknownPods {
  readonly #deps: UnknownPodsDeps;

  constructor(deps: UnknownPodsDeps) {
    this.#deps = deps;
  }

  /** Every configured source has been read once. */
  sourcesReady(): boolean {
    return this.#deps.sources.sourcesReady();
  }

  /** No source names the pod, it has no worker, and nothing of it is in the runtime or on disk. */
  async isUnknown(uid: PodUid): Promise<boolean> {
    const { sources, observed, directories } = this.#deps;
    if (!sources.sourcesReady() || !observed.hasBeenListed() || this.#isKnown(uid)) return false;
    // A source may name the pod while the disk is read.
    return !(await directories.uids()).has(uid) && !this.#isKnown(uid);
  }

  #isKnown(uid: PodUid): boolean {
    const { desired, lifecycles, observed } = this.#deps;
    return desired.has(uid) || lifecycles.knows(uid) || observed.listed().has(uid);
  }
}
