import { Duration } from '../../../src/base/duration.ts';
import type { CapacityShare } from '../../../src/model/capacity-share.ts';
import type { Threshold } from '../../../src/model/eviction-thresholds.ts';
import { Quantity } from '../../../src/model/quantity.ts';

interface Share {
  readonly quantity?: string;
  readonly percentage?: number | string;
}

export interface RecordedThreshold {
  readonly signal: string;
  /** Empty for one that is never met. */
  readonly operator: string;
  readonly value: Share;
  readonly gracePeriod?: string;
  readonly minReclaim?: Share;
}

/** A threshold as a text, a recorded one or ours: the same amount may be written in more than one way. */
export function thresholdText(threshold: Threshold | RecordedThreshold): string {
  const { signal, value, minReclaim } = threshold;
  const grace =
    'gracePeriod' in threshold && threshold.gracePeriod !== undefined
      ? Duration.parse(threshold.gracePeriod).toMillis()
      : 'graceMs' in threshold
        ? threshold.graceMs
        : 0;
  return JSON.stringify([signal, shareText(value), grace, minReclaim && shareText(minReclaim)]);
}

function shareText(share: Share | CapacityShare): unknown {
  if ('fraction' in share) return share.fraction + 0;
  if (share.quantity !== undefined) return Quantity.parse(share.quantity.toString()).toString();
  const { percentage } = share as Share;
  return typeof percentage === 'number' ? Math.fround(percentage) : percentage;
}
