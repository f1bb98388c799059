import { linkedSignal } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { MountPrograms, Mounts } from '../ports.ts';

export interface LeftoverMountDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly mounts: Pick<Mounts, 'atOrBelow'>;
  /** Unset: what a driver leaves mounted stays so, until the operator unmounts it. */
  readonly programs?: Pick<MountPrograms, 'unmount'> | undefined;
}

/** The storage behind the mount may not answer. */
const unmountTimeoutMs = 60_000;
/** Mounts stacked on one path, as a driver that has lost its state may have left them. */
const maxLayers = 8;

/**
 * Unmounts what a driver has left mounted although it reports the volume as unpublished: a driver that restarted without
 * its state does so. The unmount is neither forced nor lazy, so that no data is lost. Where more is mounted below, which is
 * not the driver's, all of it stays.
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
