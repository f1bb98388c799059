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

  /**
   * Whether the pod is known: a source names it, it has a worker, or the runtime has something of it. Of an unknown one there
   * may be something left on disk, or nothing.
   */
  async trace(uid: PodUid): Promise<'known' | 'onDisk' | 'none'> {
    const { sources, observed, directories } = this.#deps;
    if (!sources.sourcesReady() || !observed.hasBeenListed() || this.#isKnown(uid)) return 'known';
    const onDisk = (await directories.uids()).has(uid);
    // A source may have named the pod while the disk was read.
    if (this.#isKnown(uid)) return 'known';
    return onDisk ? 'onDisk' : 'none';
  }

  #isKnown(uid: PodUid): boolean {
    const { desired, lifecycles, observed } = this.#deps;
    return desired.has(uid) || lifecycles.knows(uid) || observed.listed().has(uid);
  }
}
