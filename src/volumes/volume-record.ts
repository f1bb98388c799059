import { isKind, type TubeletError } from '../base/errors.ts';
import type { ClaimedVolume } from './claims/claimed-volume.ts';
import type { MountedVolume } from './ports.ts';

/**
 * What is known of one volume of a pod.
 *
 *            ┌────── failed, again after a while ──────┐
 *            v                                         │
 *   absent ──┴── setUp ──> making ──┬── ok ──> ready ──┴── sync (follows) ──> making, still ready
 */
export interface VolumeRecord {
  /** The name of its plugin; unset for an unknown kind, and for a claim until its PersistentVolume is known. */
  plugin?: string;
  /** The PersistentVolume behind a claim. Bindings do not change: after the mount only the size is read again. */
  claimed?: ClaimedVolume;
  /** The name under which the attach controller knows it; the controller must not detach it while it is in use here. */
  attachable?: string;
  /** When a pod first needed it. */
  readonly wantedSinceMs: number;
  /** Set by the first successful setUp. A later setUp may fail; the volume stays mounted. */
  mounted?: MountedVolume;
  /** An operation under way. It settles without rejecting. */
  running?: Promise<void>;
  /** An expansion under way. The pod uses the volume meanwhile. It settles without rejecting. */
  expanding?: Promise<void>;
  /** When the claim is next read for a new size, in monotonic time. */
  expansionDueMs?: number;
  failure?: VolumeFailure;
}

interface VolumeFailure {
  readonly error: TubeletError;
  /** The manager could not find out what to mount. */
  readonly isUnprocessed: boolean;
  /** How many in a row. */
  readonly count: number;
  /** In monotonic time. */
  readonly nextAtMs: number;
}

const firstDelayMs = 500;
const maxDelayMs = 122_000;
/** A claim may be bound at any moment, nodes cannot watch claims, and one read is cheap. */
const maxUnprocessedDelayMs = 10_000;

/** Back-off: half a second, doubled with each failure, two minutes at most. */
function retryDelayMs(failures: number, limitMs = maxDelayMs): number {
  return Math.min(firstDelayMs * 2 ** Math.max(0, failures - 1), limitMs);
}

export function nextFailure(
  before: VolumeFailure | undefined,
  { error, isUnprocessed }: Pick<VolumeFailure, 'error' | 'isUnprocessed'>,
  nowMs: number,
): VolumeFailure {
  const count = (before?.count ?? 0) + 1;
  const delayMs = retryDelayMs(count, isUnprocessed ? maxUnprocessedDelayMs : maxDelayMs);
  return { error, isUnprocessed, count, nextAtMs: nowMs + delayMs };
}

/** The API server's authorizer may learn of a pod's node later than the node does, and refuse at first. */
const maxSilentRefusals = 2;

/** Reports a failure that differs from the one before, or that a due retry has repeated. */
export function shouldReport(before: VolumeFailure | undefined, now: VolumeFailure, nowMs: number): boolean {
  if (now.isUnprocessed && isKind(now.error, 'denied') && now.count <= maxSilentRefusals) return false;
  return before === undefined || before.error.message !== now.error.message || nowMs >= before.nextAtMs;
}
