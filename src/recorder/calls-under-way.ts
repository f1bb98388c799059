import type { CallDescription, CallFailure, Calls, CallSystem, EndCall } from '../base/calls.ts';
import type { Clock } from '../base/clock.ts';
import { cutText } from '../base/cut-text.ts';
import type { ErrorKind } from '../base/errors.ts';
import { timeOf } from './decision-pages.ts';
import { callLimits, type CallLimits } from './recorder-limits.ts';

interface CallsUnderWayDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly limits?: Partial<CallLimits>;
}

/** Calls of one kind that ended alike. */
interface EndedCalls extends CallDescription {
  readonly count: number;
  readonly firstTime: string;
  readonly lastTime: string;
  readonly longestMs: number;
  readonly failure?: CallFailure;
}

interface CallsPage {
  /** The longest first. */
  readonly underWay: readonly (CallDescription & { readonly since: string; readonly forMs: number })[];
  /** How many more there are. */
  readonly moreUnderWay: number;
  /** Those that ended last come last. */
  readonly slow: readonly EndedCalls[];
  readonly failed: readonly EndedCalls[];
}

interface RunningCall {
  readonly call: CallDescription;
  readonly since: number;
  readonly began: number;
}

interface EndedCall {
  readonly call: CallDescription;
  readonly failure?: CallFailure;
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly longestMs: number;
}

const maxSubjectBytes = 256;
const maxMessageBytes = 512;

/** From when on a call counts as slow. A runtime answers at once except for pulls and graceful stops. */
function slowAfterMs(system: CallSystem): number {
  switch (system) {
    case 'apiserver':
      return 2_000;
    case 'storage':
      return 2_000;
    case 'systemd':
      return 2_000;
    case 'runtime':
      return 5_000;
    default:
      return 10_000;
  }
}

/** Failures that are normal answers, or our own cancellations: they are not recorded as failures of the other side. */
const expectedKinds: ReadonlySet<ErrorKind> = new Set(['notFound', 'alreadyExists', 'cancelled']);

/** The calls that leave the agent: those that have not ended, and the last that were slow or failed. */
export class CallsUnderWay implements Calls {
  readonly #clock: CallsUnderWayDeps['clock'];
  readonly #limits: CallLimits;
  readonly #running = new Set<RunningCall>();
  #more = 0;
  readonly #slow = new Map<string, EndedCall>();
  readonly #failed = new Map<string, EndedCall>();

  constructor({ clock, limits = {} }: CallsUnderWayDeps) {
    this.#clock = clock;
    this.#limits = { ...callLimits, ...limits };
  }

  begin({ system, verb, subject }: CallDescription): EndCall {
    const call = { system, verb, ...(subject !== undefined && { subject: cutText(subject, maxSubjectBytes) }) };
    const running = { call, since: this.#clock.now(), began: this.#clock.monotonic() };
    const isShown = this.#running.size < this.#limits.underWay;
    if (isShown) this.#running.add(running);
    else this.#more++;
    let hasEnded = false;
    return (failure) => {
      if (hasEnded) return;
      hasEnded = true;
      if (isShown) this.#running.delete(running);
      else this.#more--;
      this.#ended(running, failure);
    };
  }

  page(): CallsPage {
    const now = this.#clock.monotonic();
    return {
      // In the order in which they began.
      underWay: [...this.#running].map(({ call, since, began }) => ({
        ...call,
        since: timeOf(since),
        forMs: Math.round(now - began),
      })),
      moreUnderWay: this.#more,
      slow: [...this.#slow.values()].map(shown),
      failed: [...this.#failed.values()].map(shown),
    };
  }

  #ended({ call, began }: RunningCall, failure: CallFailure | undefined): void {
    const tookMs = this.#clock.monotonic() - began;
    const failed = failure !== undefined && !expectedKinds.has(failure.kind) ? failure : undefined;
    if (failed !== undefined) {
      const short = { kind: failed.kind, message: cutText(failed.message, maxMessageBytes) };
      this.#keep(this.#failed, this.#limits.failed, { call, tookMs, failure: short });
    }
    if (tookMs >= slowAfterMs(call.system)) this.#keep(this.#slow, this.#limits.slow, { call, tookMs });
  }

  #keep(
    ends: Map<string, EndedCall>,
    max: number,
    {
      call,
      tookMs,
      failure,
    }: { readonly call: CallDescription; readonly tookMs: number; readonly failure?: CallFailure },
  ): void {
    const key = JSON.stringify([call.system, call.verb, call.subject, failure?.kind]);
    const now = this.#clock.now();
    const before = ends.get(key);
    ends.delete(key);
    ends.set(key, {
      call,
      ...(failure && { failure }),
      count: (before?.count ?? 0) + 1,
      firstAt: before?.firstAt ?? now,
      lastAt: now,
      longestMs: Math.max(before?.longestMs ?? 0, tookMs),
    });
    for (const oldest of ends.keys()) {
      if (ends.size <= max) return;
      ends.delete(oldest);
    }
  }
}

function shown({ call, failure, count, firstAt, lastAt, longestMs }: EndedCall): EndedCalls {
  return {
    ...call,
    count,
    firstTime: timeOf(firstAt),
    lastTime: timeOf(lastAt),
    longestMs: Math.round(longestMs),
    ...(failure && { failure }),
  };
}
