import type { Clock } from '../base/clock.ts';
import { isKind } from '../base/errors.ts';

/**
 * The API server knows by a watch of its own which pods are here. Who asks right after a pod was bound may be ahead of
 * that watch and is refused: then asking again soon spares the pod a failed mount and its back-off.
 */
const authorizerLagMs = [50, 200];

/** What the API server answers to a question about a pod that it may not know to be here yet. */
export async function retryOnForbidden<T>(
  clock: Pick<Clock, 'sleep'>,
  ask: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (const pauseMs of authorizerLagMs) {
    try {
      return await ask();
    } catch (error) {
      if (!isKind(error, 'denied')) throw error;
    }
    await clock.sleep(pauseMs, signal);
  }
  return ask();
}
