import type { PodUid } from '../base/ids.ts';
import type { Decider, DecisionKind } from '../model/decisions.ts';
import type { RecordedInputs } from './bounded-inputs.ts';
import type { DecisionLog, RecordedDecision } from './decision-log.ts';

/** What is recorded of one pod. */
export interface PodRecord {
  readonly uid: PodUid;
  readonly namespace?: string;
  readonly name?: string;
  readonly log: DecisionLog;
  /** Wall milliseconds; unset while the pod is here. */
  readonly removedAt?: number;
}

/** A decision as the pages show it, times in RFC 3339. */
export interface ShownDecision {
  readonly kind: DecisionKind;
  readonly by: Decider;
  readonly reason: string;
  readonly message: string;
  readonly containerName?: string;
  readonly inputs?: RecordedInputs;
  readonly count: number;
  readonly firstTime: string;
  readonly lastTime: string;
  readonly nextTryTime?: string;
}

export interface DecisionPage {
  /** The one that was decided last comes last. */
  readonly decisions: readonly ShownDecision[];
  /** How many are not shown because there were too many. */
  readonly droppedDecisions: number;
}

/** One pod among others. */
export interface PodLine {
  readonly uid: string;
  readonly namespace?: string;
  readonly name?: string;
  /** When nothing of it was left on the node. */
  readonly removedTime?: string;
  readonly last?: Pick<ShownDecision, 'kind' | 'reason' | 'lastTime'>;
}

export type PodPage = PodLine & DecisionPage;

export function pageOf(log: DecisionLog): DecisionPage {
  return { decisions: log.all().map(shown), droppedDecisions: log.dropped };
}

export function podLine({ uid, namespace, name, removedAt, log }: PodRecord): PodLine {
  const last = log.last();
  return {
    uid,
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    ...(removedAt !== undefined && { removedTime: timeOf(removedAt) }),
    ...(last && { last: { kind: last.kind, reason: last.reason, lastTime: timeOf(last.lastAt) } }),
  };
}

function shown({ firstAt, lastAt, nextTryAt, ...decision }: RecordedDecision): ShownDecision {
  return {
    ...decision,
    firstTime: timeOf(firstAt),
    lastTime: timeOf(lastAt),
    ...(nextTryAt !== undefined && { nextTryTime: timeOf(nextTryAt) }),
  };
}

const maxTime = 8.64e15;

export function timeOf(wallMs: number): string {
  return new Date(Math.min(wallMs, maxTime)).toISOString();
}
