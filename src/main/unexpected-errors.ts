import type { Clock } from '../base/clock.ts';
import { cutText } from '../base/cut-text.ts';
import { describeError, InvariantError, TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Metrics } from '../base/metrics.ts';
import { TokenBucket } from '../base/token-bucket.ts';

/** How an uncaught error was reported. */
export type UnexpectedKind = 'unhandledRejection' | 'uncaughtException';

/** The source of such errors: the process, or a test. */
interface ErrorSource {
  on(kind: 'unhandledRejection', listener: (reason: unknown) => void): unknown;
  on(kind: 'uncaughtException', listener: (error: unknown) => void): unknown;
}

interface UnexpectedClass {
  readonly act: 'goOn' | 'end';
  readonly why: string;
}

/** Codes of a connection that the peer closed. */
const connectionCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN']);
const maxCauses = 8;
const maxOriginBytes = 8 * 1_024;

/**
 * Whether the agent may continue after an uncaught error. A rejected promise ended one piece of work; its data is
 * written completely or not at all, and loops reconcile again. The state may be damaged when an invariant of the agent
 * was violated, and when an exception interrupted a callback: the callbacks after it never ran.
 */
export function classifyUnexpected(kind: UnexpectedKind, error: unknown): UnexpectedClass {
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

/** The same bug may occur in every round of a loop: each is counted, but logging is limited. */
const lines = { perSecond: 0.2, burst: 20 };

/** Logs and counts uncaught errors, and stops the agent in order where its state may be damaged. */
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

  /** Aborts when the agent must stop; the reason is the uncaught error. */
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

  /** Must not throw: its own error would be reported here again. */
  #take(kind: UnexpectedKind, error: unknown): void {
    this.#counts[kind]++;
    const { act, why } = classifyUnexpected(kind, error);
    try {
      this.#report(kind, error, act, why);
    } catch {
      // Without a log the count is what remains.
    }
    if (act === 'end' && !this.#end.signal.aborted) {
      this.#end.abort(new TubeletError('internal', `${kind}: ${describeError(error)}`, { cause: error }));
    }
  }

  #report(kind: UnexpectedKind, error: unknown, act: UnexpectedClass['act'], why: string): void {
    if (act === 'goOn' && !this.#lines.tryTake()) {
      this.#unlogged++;
      return;
    }
    const words = act === 'end' ? 'Unexpected error, ending the agent' : 'Unexpected error, continuing';
    this.#log.error(error, words, {
      kind,
      reason: why,
      origin: originOf(error),
      ...(this.#unlogged > 0 && { unlogged: this.#unlogged }),
    });
    this.#unlogged = 0;
  }
}

/** The stack, with those of the causes: only it shows which code failed to catch. */
function originOf(error: unknown): string {
  const stacks: string[] = [];
  for (let at = error; at instanceof Error && stacks.length < maxCauses; at = at.cause) {
    stacks.push(at.stack ?? at.message);
  }
  return stacks.length === 0 ? `no error, but ${typeof error}` : cutText(stacks.join('\ncaused by '), maxOriginBytes);
}
