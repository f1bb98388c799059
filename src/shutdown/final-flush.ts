import { withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { NamespacedName } from '../model/pod-reference.ts';
import type { PlannedPod } from './plan.ts';
import type { ShutdownPods, ApiServerFlush } from './ports.ts';

interface FinalFlushDeps {
  readonly clock: Clock;
  readonly pods: Pick<ShutdownPods, 'hasEnded'>;
  /** Undefined on a node without an API server. */
  readonly apiServer: ApiServerFlush | undefined;
}

const pollMs = 100;
const minMs = 2_000;
const maxMs = 10_000;

/** How long the end of the machine may wait for the API server: what is left of the time, within bounds. */
export function flushMs(leftMs: number): number {
  return Math.min(maxMs, Math.max(minMs, leftMs));
}

/** What the API server does not have when the machine goes down. */
export interface Unflushed {
  readonly pods: readonly NamespacedName[];
  readonly node: boolean;
}

/**
 * Waits for the pods that their group did not wait for to the end, and until the API server has how pods and node ended.
 * Otherwise it would show pods as running on a machine that is off.
 */
export class FinalFlush {
  readonly #deps: FinalFlushDeps;

  constructor(deps: FinalFlushDeps) {
    this.#deps = deps;
  }

  async wait(asked: readonly PlannedPod[], leftMs: number, signal: AbortSignal): Promise<Unflushed> {
    const { clock, pods } = this.#deps;
    const apiServer = this.#deps.apiServer ?? { unwritten: () => [], nodeNotReady: () => true, events: async () => {} };
    const isOver = (): boolean => asked.every(({ uid }) => pods.hasEnded(uid));
    try {
      await withTimeout(
        clock,
        flushMs(leftMs),
        async (limit) => {
          while (!isOver() || !apiServer.nodeNotReady() || apiServer.unwritten().length > 0)
            await clock.sleep(pollMs, limit);
          await apiServer.events(limit);
        },
        signal,
      );
    } catch (error) {
      if (signal.aborted) throw error;
    }
    return { pods: apiServer.unwritten(), node: !apiServer.nodeNotReady() };
  }
}
