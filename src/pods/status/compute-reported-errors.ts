import type { ObservedContainer } from '../../model/observed-pod.ts';
import { startReasons } from '../../model/reasons.ts';
import type { StartError } from '../../model/refusal.ts';

/** The start error that a container's status shows, and since when a newer one has been waiting to be shown. */
export interface ReportedStartError {
  readonly reported?: StartError;
  readonly pendingSince?: number;
}

interface ReportedErrorsInput {
  readonly before: ReadonlyMap<string, ReportedStartError>;
  /** Why containers could not start, as known now. */
  readonly errors: ReadonlyMap<string, StartError>;
  readonly observed: readonly Pick<ObservedContainer, 'name' | 'state'>[];
  /** Monotonic. */
  readonly nowMs: number;
}

/** A back-off is shown by a sync that comes at least this long after it began, so that clients see what came before it. */
const settleMs = 5_000;

const backOffs: ReadonlySet<string> = new Set([startReasons.crashLoopBackOff, startReasons.imagePullBackOff]);

/**
 * The start errors that a status shows. Why a try failed is shown at once. A back-off replaces it at once only where there
 * is nothing else to show: how a container ended, or why it could not start, is what people need, so the back-off that
 * follows from it does not cover it before a client could see it. A container that the agent itself killed has had its
 * event, so its back-off is shown at once too.
 */
export function computeReportedErrors({
  before,
  errors,
  observed,
  nowMs,
}: ReportedErrorsInput): ReadonlyMap<string, ReportedStartError> {
  const hasRun = (name: string): boolean => observed.some((one) => one.name === name && one.state !== 'created');
  const entries = [...errors].map(([name, error]): readonly [string, ReportedStartError] => {
    const { reported, pendingSince = nowMs } = before.get(name) ?? {};
    const nothingElse = reported === undefined ? !hasRun(name) : backOffs.has(reported.reason);
    const isDue = nothingElse || error.atOnce === true || nowMs - pendingSince >= settleMs;
    if (!backOffs.has(error.reason) || isDue) return [name, { reported: error }];
    return [name, { ...(reported && { reported }), pendingSince }];
  });
  return new Map(entries);
}
