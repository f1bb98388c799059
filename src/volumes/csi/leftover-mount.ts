import { linkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { MountPrograms, Mounts } from '../ports.ts';

export interface LeftoverMountDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly mounts: Pick<Mounts, 'atOrBelow'>;
  /** Unset: what a driver leaves mounted stays so, and somebody has to unmount it by hand. */
  readonly programs?: Pick<MountPrograms, 'unmount'> | undefined;
}

/** What serves the mount may not answer. */
const unmountTimeoutMs = 60_000;
/** One over the other, as a driver that forgets may have mounted it. */
const maxLayers = 8;

/**
 * Unmounts what a driver has left where it says that nothing is: one that came back without its memory answers so, and
 * nobody else would do it. Nothing is lost by that, neither by force nor lazily as it is done. What is mounted further below
 * is somebody else's, and then all of it stays.
 */
export async function unmountLeftover(deps: LeftoverMountDeps, target: string, driver: string): Promise<void> {
  const { clock, log, mounts, programs } = deps;
  if (programs === undefined) return;
  for (let layer = 0; layer < maxLayers; layer++) {
    const found = await mounts.atOrBelow(target);
    if (found.length === 0 || found.some((path) => path !== target)) return;
    log.warn('Driver has left a volume mounted that it says is not; unmounting it', { driver, path: target });
    const limit = linkedSignal(undefined, { clock, ms: unmountTimeoutMs });
    try {
      await programs.unmount(target, { force: false }, limit.signal);
    } finally {
      limit.release();
    }
  }
}
