import { isKind, type TubeletError } from '../base/errors.ts';
import type { ClaimedVolume } from './claims/claimed-volume.ts';
import type { MountedVolume } from './ports.ts';

/**
 * What is known of one volume of a pod.
 *
 *            ┌────── failed, again after a while ──────┐
 *            v                                         │
 *   absent ──┴── setUp ──> making ──┬── ok ──> ready ──┴── look (follows) ──> making, still ready
 */
export interface VolumeRecord {
  /** The name of its kind; unset where nobody knows it, and for a claim until it is known what is behind it. */
  plugin?: string;
  /** What is behind a claim. A binding stays what it is: only its size is asked for again once it is mounted. */
  claimed?: ClaimedVolume;
  /** Under which name it is attached to this node, by somebody who must not detach it while it is in use here. */
  attachable?: string;
  /** Since when it is to be ready. */
  readonly wantedSinceMs: number;
  /** Set once it has been ready: what came later may have failed, the volume is there. */
  mounted?: MountedVolume;
  /** An operation under way. It settles without rejecting. */
  running?: Promise<void>;
  /** Somebody is seeing whether it has become larger. It serves meanwhile; this settles without rejecting too. */
  growing?: Promise<void>;
  /** When that is next worth a question, on the clock that nobody sets. */
  growthDueMs?: number;
  failure?: Failure;
}

interface Failure {
  readonly error: TubeletError;
  /** It is not even known what to mount. */
  readonly isUnprocessed: boolean;
  /** How many in a row. */
  readonly count: number;
  /** On the clock that nobody sets. */
  readonly nextAtMs: number;
}

const firstDelayMs = 500;
const maxDelayMs = 122_000;
/** A claim may be bound at any moment, nobody tells a node, and a question is cheap. */
const maxUnprocessedDelayMs = 10_000;

/** After how long the next try is due: half a second, doubled with each failure, never more than about two minutes. */
function retryDelayMs(failures: number, limitMs = maxDelayMs): number {
  return Math.min(firstDelayMs * 2 ** Math.max(0, failures - 1), limitMs);
}

export function nextFailure(
  before: Failure | undefined,
  { error, isUnprocessed }: Pick<Failure, 'error' | 'isUnprocessed'>,
  nowMs: number,
): Failure {
  const count = (before?.count ?? 0) + 1;
  const delayMs = retryDelayMs(count, isUnprocessed ? maxUnprocessedDelayMs : maxDelayMs);
  return { error, isUnprocessed, count, nextAtMs: nowMs + delayMs };
}

/** The API server learns which node a pod is on no sooner than the node itself: it may refuse what it allows a moment later. */
const maxSilentRefusals = 2;

/** A failure is told when it is another one than before, or when the time for a next try had come. */
export function shouldReport(before: Failure | undefined, now: Failure, nowMs: number): boolean {
  if (now.isUnprocessed && isKind(now.error, 'denied') && now.count <= maxSilentRefusals) return false;
  return before === undefined || before.error.message !== now.error.message || nowMs >= before.nextAtMs;
}
