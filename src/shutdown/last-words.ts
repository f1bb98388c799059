import { withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { NamespacedName } from '../model/pod-reference.ts';
import type { PlannedPod } from './plan.ts';
import type { ShutdownPods, ToldApiServer } from './ports.ts';

interface LastWordsDeps {
  readonly clock: Clock;
  readonly pods: Pick<ShutdownPods, 'hasEnded'>;
  /** Undefined on a node without an API server. */
  readonly told: ToldApiServer | undefined;
}

const pollMs = 100;
const leastMs = 2_000;
const mostMs = 10_000;

/** How long the end of the machine may wait for the API server: what is left of the time, within bounds. */
export function flushMs(leftMs: number): number {
  return Math.min(mostMs, Math.max(leastMs, leftMs));
}

/** What the API server has not been told when the machine goes down. */
export interface Untold {
  readonly pods: readonly NamespacedName[];
  readonly node: boolean;
}

/**
 * Waits for the pods that their group did not wait for to the end, and until the API server knows how pods and node ended.
 * Otherwise it would show pods as running on a machine that is off.
 */
export class LastWords {
  readonly #deps: LastWordsDeps;

  constructor(deps: LastWordsDeps) {
    this.#deps = deps;
  }

  async wait(asked: readonly PlannedPod[], leftMs: number, signal: AbortSignal): Promise<Untold> {
    const { clock, pods } = this.#deps;
    // Nobody is to be told on a node without an API server.
    const told = this.#deps.told ?? { unwritten: () => [], nodeNotReady: () => true, events: async () => {} };
    const isOver = (): boolean => asked.every(({ uid }) => pods.hasEnded(uid));
    try {
      await withTimeout(
        clock,
        flushMs(leftMs),
        async (limit) => {
          while (!isOver() || !told.nodeNotReady() || told.unwritten().length > 0) await clock.sleep(pollMs, limit);
          await told.events(limit);
        },
        signal,
      );
    } catch (error) {
      if (signal.aborted) throw error;
    }
    return { pods: told.unwritten(), node: !told.nodeNotReady() };
  }
}
