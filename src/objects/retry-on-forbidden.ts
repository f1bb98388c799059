import type { Clock } from '../base/clock.ts';
import { isKind } from '../base/errors.ts';

/**
 * The API server's node authorizer learns by a watch which pods are here. It refuses a request right after a pod was bound
 * until that watch has caught up. A quick retry saves the pod a failed mount and its back-off.
 */
const authorizerLagMs = [50, 200];

/** Retries a request that the API server's node authorizer may refuse at first. */
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
