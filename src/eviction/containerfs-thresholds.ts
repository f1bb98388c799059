import type { Threshold } from '../model/eviction-thresholds.ts';
import type { DiskLayout } from './rank-pods.ts';

interface DerivedThresholds {
  readonly thresholds: readonly Threshold[];
  /** Those of the configuration that are not used, as a log says it. */
  readonly ignored: readonly string[];
}

/**
 * Writable layers have the thresholds of the disk that they are on, whatever the configuration says about them: an
 * operator knows disks, not where a runtime puts what.
 */
export function deriveContainerfs(thresholds: readonly Threshold[], layout: DiskLayout): DerivedThresholds {
  const source = layout === 'imagefs' ? 'imagefs.' : 'nodefs.';
  const own = thresholds.filter(({ signal }) => signal.startsWith('containerfs.'));
  const derived = thresholds.flatMap((one) => {
    if (!one.signal.startsWith(source)) return [];
    const signal = one.signal.endsWith('.available') ? 'containerfs.available' : 'containerfs.inodesFree';
    return [{ ...one, signal } as const];
  });
  return {
    thresholds: [...thresholds.filter((one) => !own.includes(one)), ...derived],
    ignored: own.map(
      ({ signal, graceMs }) => `found ${signal} for ${graceMs === undefined ? 'hard' : 'soft'} eviction. ignoring`,
    ),
  };
}
