import { cutText } from '../base/cut-text.ts';
import type { Decision } from '../model/decisions.ts';
import { boundedInputs, type RecordedInputs } from './bounded-inputs.ts';
import { decisionLimits } from './recorder-limits.ts';

/** A decision as it is kept. Times are wall milliseconds. */
export interface RecordedDecision extends Pick<Decision, 'kind' | 'by' | 'reason' | 'message' | 'containerName'> {
  /** Of the last time, like the time of the next try. */
  readonly inputs?: RecordedInputs;
  readonly firstAt: number;
  readonly lastAt: number;
  /** How often it was decided. */
  readonly count: number;
  readonly nextTryAt?: number;
}

interface DecisionLogLimits {
  readonly entries: number;
  readonly bytes: number;
}

interface KeptDecision {
  readonly decision: RecordedDecision;
  readonly bytes: number;
}

/** A loop of so many decisions, such as start, end, back-off and start again, is folded into one of each. */
const foldWindow = 8;
/** Every reconciliation computes the same wait anew; a difference as small as this is one of rounding. */
const sameTryMs = 500;
const entryBytes = 160;

/**
 * The last decisions about one thing, oldest first. One that was among the last few already is not added: it is counted,
 * and comes last. When the log is full, the kind of decision that is there most often loses its oldest, so that what is
 * decided again and again with another message does not push out what came before.
 */
export class DecisionLog {
  readonly #limits: DecisionLogLimits;
  #kept: KeptDecision[] = [];
  #bytes = 0;
  #dropped = 0;

  constructor(limits: DecisionLogLimits) {
    this.#limits = limits;
  }

  add(decision: Decision, now: number): void {
    const entry = recorded(decision, now);
    const same = this.#kept.findLastIndex(
      (kept, index) => index >= this.#kept.length - foldWindow && isSame(kept.decision, entry),
    );
    const [before] = same < 0 ? [] : this.#kept.splice(same, 1);
    if (before !== undefined) this.#bytes -= before.bytes;
    const waitContinues = entry.kind === 'wait' && same === this.#kept.length;
    const kept = before === undefined ? entry : folded(before.decision, entry, waitContinues);
    const bytes = sizeOf(kept);
    this.#kept.push({ decision: kept, bytes });
    this.#bytes += bytes;
    while (this.#kept.length > 1 && this.#isOverLimit()) this.#dropOne();
  }

  /** In the order in which they were last decided. */
  all(): readonly RecordedDecision[] {
    return this.#kept.map(({ decision }) => decision);
  }

  last(): RecordedDecision | undefined {
    return this.#kept.at(-1)?.decision;
  }

  /** How many decisions have been dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Estimated memory. */
  get bytes(): number {
    return this.#bytes;
  }

  #isOverLimit(): boolean {
    return this.#kept.length > this.#limits.entries || this.#bytes > this.#limits.bytes;
  }

  #dropOne(): void {
    const counts = new Map<string, number>();
    // The one that was just added stays.
    const older = this.#kept.slice(0, -1);
    for (const { decision } of older) counts.set(groupOf(decision), (counts.get(groupOf(decision)) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const index = older.findIndex(({ decision }) => counts.get(groupOf(decision)) === most);
    const [removed] = this.#kept.splice(index, 1);
    this.#bytes -= removed?.bytes ?? 0;
    this.#dropped += removed?.decision.count ?? 0;
  }
}

function recorded(decision: Decision, now: number): RecordedDecision {
  const { kind, by, reason, message, containerName, inputs, nextTryInMs } = decision;
  return {
    kind,
    by,
    reason: cutText(reason, decisionLimits.reasonBytes),
    message: cutText(message, decisionLimits.messageBytes),
    ...(containerName !== undefined && { containerName: cutText(containerName, decisionLimits.inputTextBytes) }),
    ...(inputs !== undefined && { inputs: boundedInputs(inputs) }),
    firstAt: now,
    lastAt: now,
    count: 1,
    ...(nextTryInMs !== undefined && Number.isFinite(nextTryInMs) && { nextTryAt: now + Math.max(0, nextTryInMs) }),
  };
}

function isSame(a: RecordedDecision, b: RecordedDecision): boolean {
  return groupOf(a) === groupOf(b) && a.message === b.message;
}

function folded(before: RecordedDecision, now: RecordedDecision, waitContinues: boolean): RecordedDecision {
  const isSame = isSameTry(before, now, waitContinues);
  return { ...now, firstAt: before.firstAt, count: isSame ? before.count : before.count + 1 };
}

/** It still waits for the moment, or the event, that it waited for before: that was found again and not decided again. */
function isSameTry(before: RecordedDecision, now: RecordedDecision, waitContinues: boolean): boolean {
  if (before.nextTryAt === undefined && now.nextTryAt === undefined) return waitContinues;
  if (before.nextTryAt === undefined || now.nextTryAt === undefined) return false;
  return now.lastAt < before.nextTryAt && Math.abs(before.nextTryAt - now.nextTryAt) < sameTryMs;
}

function groupOf({ kind, by, reason, containerName = '' }: RecordedDecision): string {
  return [kind, by, reason, containerName].join('|');
}

function sizeOf({ reason, message, containerName = '', inputs }: RecordedDecision): number {
  const text = inputs === undefined ? '' : JSON.stringify(inputs);
  return entryBytes + reason.length + message.length + containerName.length + text.length;
}
