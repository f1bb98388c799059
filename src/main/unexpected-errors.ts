import type { Clock } from '../base/clock.ts';
import { cutText } from '../base/cut-text.ts';
import { describeError, InvariantError, TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import { TokenBucket } from '../base/token-bucket.ts';

/** Where an error came from that no code of the agent caught. */
export type UnexpectedKind = 'unhandledRejection' | 'uncaughtException';

/** Where such errors are announced: the process, or a test. */
interface ErrorSource {
  on(kind: 'unhandledRejection', listener: (reason: unknown) => void): unknown;
  on(kind: 'uncaughtException', listener: (error: unknown) => void): unknown;
}

interface UnexpectedDecision {
  readonly act: 'goOn' | 'end';
  readonly why: string;
}

/** What the system answers when the other side of a connection went away. */
const connectionCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN']);
const maxCauses = 8;
const maxOriginBytes = 8 * 1_024;

/**
 * Whether the agent may go on after an error that no code caught. A rejected promise ended one piece of work; what it holds
 * is written as a whole or not at all, and loops look again. The state may be damaged when an invariant of the agent did
 * not hold, and when an exception left a callback in the middle: others that were to run after it never did.
 */
export function judgeUnexpected(kind: UnexpectedKind, error: unknown): UnexpectedDecision {
  if (isInvariant(error)) return { act: 'end', why: 'an invariant of the agent does not hold' };
  if (kind === 'unhandledRejection') return { act: 'goOn', why: 'one piece of work ended' };
  if (isConnectionError(error)) return { act: 'goOn', why: 'a connection broke' };
  return { act: 'end', why: 'what the callback left undone is unknown' };
}

function isInvariant(error: unknown): boolean {
  let at = error;
  for (let depth = 0; depth < maxCauses && at instanceof Error; depth++, at = at.cause) {
    if (at instanceof InvariantError) return true;
  }
  return false;
}

function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return false;
  return typeof error.code === 'string' && connectionCodes.has(error.code);
}

/** The same bug may strike at every turn of a loop: all are counted, not all are worth a line. */
const lines = { perSecond: 0.2, burst: 20 };

/** Logs and counts errors that no code caught, and ends the agent in order where its state may be damaged. */
export class UnexpectedErrors {
  readonly #log: Pick<Log, 'error'>;
  readonly #lines: TokenBucket;
  readonly #counts: Record<UnexpectedKind, number> = { unhandledRejection: 0, uncaughtException: 0 };
  readonly #end = new AbortController();
  #unlogged = 0;

  constructor({ clock, log }: { readonly clock: Pick<Clock, 'monotonic'>; readonly log: Pick<Log, 'error'> }) {
    this.#log = log;
    this.#lines = new TokenBucket(clock, lines);
  }

  /** Aborts when the agent shall end; the reason is the error that no code caught. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  watch(source: ErrorSource): void {
    source.on('unhandledRejection', (reason) => this.#take('unhandledRejection', reason));
    source.on('uncaughtException', (error) => this.#take('uncaughtException', error));
  }

  countIn(metrics: Metrics): void {
    metrics.observed(
      {
        name: 'tubelet_unexpected_errors_total',
        help: 'Errors that no code of the agent caught, by how they came up.',
        type: 'counter',
        labels: ['kind'],
      },
      () => Object.entries(this.#counts).map(([kind, value]) => ({ labels: { kind }, value })),
    );
  }

  /** Whatever throws here would come back here. */
  #take(kind: UnexpectedKind, error: unknown): void {
    this.#counts[kind]++;
    const { act, why } = judgeUnexpected(kind, error);
    try {
      this.#report(kind, error, act, why);
    } catch {
      // Without a log the count is what remains.
    }
    if (act === 'end' && !this.#end.signal.aborted) {
      this.#end.abort(new TubeletError('internal', `${kind}: ${describeError(error)}`, { cause: error }));
    }
  }

  #report(kind: UnexpectedKind, error: unknown, act: UnexpectedDecision['act'], why: string): void {
    if (act === 'goOn' && !this.#lines.tryTake()) {
      this.#unlogged++;
      return;
    }
    const words = act === 'end' ? 'Unexpected error, ending the agent' : 'Unexpected error, going on';
    this.#log.error(error, words, {
      kind,
      reason: why,
      origin: originOf(error),
      ...(this.#unlogged > 0 && { unlogged: this.#unlogged }),
    });
    this.#unlogged = 0;
  }
}

/** The stack, with those of the causes: only it says which code failed to catch. */
function originOf(error: unknown): string {
  const stacks: string[] = [];
  for (let at = error; at instanceof Error && stacks.length < maxCauses; at = at.cause) {
    stacks.push(at.stack ?? at.message);
  }
  return stacks.length === 0 ? `no error, but ${typeof error}` : cutText(stacks.join('\ncaused by '), maxOriginBytes);
}
