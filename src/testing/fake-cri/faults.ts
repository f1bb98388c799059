import type { Clock } from '../../base/clock.ts';
import { TubeletError, type ErrorKind } from '../../base/errors.ts';
import type { UnaryVerb } from '../../cri/index.ts';

interface FaultOptions {
  /** How many calls it strikes; without it, all until `clear`. */
  readonly times?: number;
  /** Only calls for which this holds. */
  readonly when?: (request: unknown) => boolean;
}

interface FailureOptions extends FaultOptions {
  readonly message?: string;
  /** The verb does its work and the answer is lost. */
  readonly afterwards?: boolean;
}

type Trouble =
  | { readonly kind: 'fail'; readonly error: ErrorKind; readonly message: string; readonly afterwards: boolean }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'hang' };

interface Fault {
  readonly trouble: Trouble;
  readonly when: (request: unknown) => boolean;
  left: number;
}

/** What goes wrong with which verb. The latest fault that applies strikes; one of each sort can strike a call. */
export class FakeFaults {
  readonly #clock: Clock;
  readonly #faults = new Map<UnaryVerb, Fault[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  fail(verb: UnaryVerb, error: ErrorKind, options: FailureOptions = {}): void {
    const message = options.message ?? `injected ${error} failure`;
    this.#add(verb, { kind: 'fail', error, message, afterwards: options.afterwards ?? false }, options);
  }

  delay(verb: UnaryVerb, ms: number, options: FaultOptions = {}): void {
    this.#add(verb, { kind: 'delay', ms }, options);
  }

  /** The call does nothing until its deadline or its caller ends it. */
  hang(verb: UnaryVerb, options: FaultOptions = {}): void {
    this.#add(verb, { kind: 'hang' }, options);
  }

  clear(verb?: UnaryVerb): void {
    if (verb === undefined) this.#faults.clear();
    else this.#faults.delete(verb);
  }

  /** Runs a verb as its faults want it. */
  async around<T>(verb: UnaryVerb, request: unknown, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    const delay = this.#take(verb, request, 'delay');
    if (delay?.kind === 'delay') await this.#clock.sleep(delay.ms, signal);
    if (this.#take(verb, request, 'hang') !== undefined) await untilAborted(signal);
    const failure = this.#take(verb, request, 'fail');
    if (failure?.kind !== 'fail') return run();
    if (failure.afterwards) await run();
    throw new TubeletError(failure.error, failure.message);
  }

  #add(verb: UnaryVerb, trouble: Trouble, options: FaultOptions): void {
    const faults = this.#faults.get(verb) ?? [];
    faults.unshift({ trouble, when: options.when ?? (() => true), left: options.times ?? Number.POSITIVE_INFINITY });
    this.#faults.set(verb, faults);
  }

  #take(verb: UnaryVerb, request: unknown, kind: Trouble['kind']): Trouble | undefined {
    const fault = this.#faults
      .get(verb)
      ?.find((fault) => fault.trouble.kind === kind && fault.left > 0 && fault.when(request));
    if (fault !== undefined) fault.left--;
    return fault?.trouble;
  }
}

export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
