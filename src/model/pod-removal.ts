import { InvariantError } from '../base/errors.ts';
import type { PodUid } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { podUidFields } from './pod-log.ts';

/** The per-pod state of a component. */
export interface PerPodState {
  /** Drops the state of the pod; without effect for an unknown pod. */
  forget(uid: PodUid): void;
  /** How many pods have state. */
  size(): number;
}

/**
 * Ends the per-pod state of all components. It exists before them; each registers its state, and `podRemoved` drops the
 * pod from all of them when nothing of it is left on the node.
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

  /** How many pods have state in each component. */
  sizes(): ReadonlyMap<string, number> {
    return new Map([...this.#states].map(([name, state]) => [name, state.size()]));
  }
}
