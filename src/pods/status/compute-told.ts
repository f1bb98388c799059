import type { ObservedContainer } from '../../model/observed-pod.ts';
import { startReasons } from '../../model/reasons.ts';
import type { StartError } from '../../model/refusal.ts';

/** What is told of a container that could not start, and since when there has been something else to tell. */
export interface Telling {
  readonly told?: StartError;
  readonly untoldSince?: number;
}

interface TellingInput {
  readonly before: ReadonlyMap<string, Telling>;
  /** Why containers could not start, as known now. */
  readonly errors: ReadonlyMap<string, StartError>;
  readonly observed: readonly Pick<ObservedContainer, 'name' | 'state'>[];
  /** Monotonic. */
  readonly nowMs: number;
}

/** A wait is told by a look that comes at least this long after it began, not by those that follow upon each other. */
const settlesMs = 5_000;

const waits: ReadonlySet<string> = new Set([startReasons.crashLoopBackOff, startReasons.imagePullBackOff]);

/**
 * What a status says of containers that could not start. Why a try failed is told at once. That the next one has to wait
 * is told at once only where there is nothing else to say: how a container ended, or why it could not start, is what
 * people look for, and is not covered by the wait that follows from it before it could be seen. An end that the agent
 * itself brought about has had its event, and tells nothing.
 */
export function computeTelling({ before, errors, observed, nowMs }: TellingInput): ReadonlyMap<string, Telling> {
  const hasRun = (name: string): boolean => observed.some((one) => one.name === name && one.state !== 'created');
  const entries = [...errors].map(([name, error]): readonly [string, Telling] => {
    const { told, untoldSince = nowMs } = before.get(name) ?? {};
    const isAlone = told === undefined ? !hasRun(name) : waits.has(told.reason);
    const isDue = isAlone || error.atOnce === true || nowMs - untoldSince >= settlesMs;
    if (!waits.has(error.reason) || isDue) return [name, { told: error }];
    return [name, { ...(told && { told }), untoldSince }];
  });
  return new Map(entries);
}
