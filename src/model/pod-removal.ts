import { InvariantError } from '../base/errors.ts';
import type { PodUid } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { podUidFields } from './pod-log.ts';

/** What a component remembers of pods, and how it ends with a pod. */
export interface PerPodState {
  /** Drops what is remembered of the pod; a pod that is not known is no error. */
  forget(uid: PodUid): void;
  /** How many pods something is remembered of. */
  size(): number;
}

/**
 * The one way by which memory of pods ends. It exists before the components that remember; each registers what it keeps
 * per pod, and `podRemoved` drops the pod from all of them when nothing of it is left on the node.
 */
export class PodRemoval {
  readonly #log: Log;
  readonly #states = new Map<string, PerPodState>();

  constructor(log: Log) {
    this.#log = log;
  }

  register(name: string, state: PerPodState): void {
    if (this.#states.has(name)) throw new InvariantError(`per-pod state ${name} is registered twice`);
    this.#states.set(name, state);
  }

  /** State that ends without `podRemoved`, with its source or with the work under way: it is only counted. */
  registerSelfEnding(name: string, state: Pick<PerPodState, 'size'>): void {
    this.register(name, { forget: () => {}, size: () => state.size() });
  }

  /** Forgets in the order of registration. A failure is logged, and the others forget all the same. */
  podRemoved(uid: PodUid): void {
    for (const [name, state] of this.#states) {
      try {
        state.forget(uid);
      } catch (error) {
        this.#log.error(error, 'Per-pod state was not dropped', { ...podUidFields(uid), state: name });
      }
    }
  }

  /** How many pods each registered state remembers. */
  sizes(): ReadonlyMap<string, number> {
    return new Map([...this.#states].map(([name, state]) => [name, state.size()]));
  }
}
