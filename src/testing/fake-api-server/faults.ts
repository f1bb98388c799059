import { untilAborted } from '../fake-cri/faults.ts';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import { expired, Refusal } from './refusal.ts';
import type { SeenRequest } from './request-log.ts';
import type { Watches } from './watches.ts';

interface FaultOptions {
  /** How many requests it strikes; default: all of them. */
  readonly times?: number;
  /** Which requests; default: any. */
  readonly when?: (request: SeenRequest) => boolean;
}

interface RefusalFault extends FaultOptions {
  readonly retryAfterSeconds?: number;
  readonly message?: string;
  readonly reason?: string;
}

type Trouble =
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'hang' }
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  | { readonly kind: 'lose' }
  | { readonly kind: 'cut' };

interface Fault {
  readonly trouble: Trouble;
  readonly when: (request: SeenRequest) => boolean;
  left: number;
}

/** What goes wrong. The latest fault that applies strikes; one of each sort can strike a request. */
export class FakeApiFaults {
  readonly #clock: Clock;
  readonly #watches: Watches;
  #faults: Fault[] = [];
  #isAway = false;

  constructor(clock: Clock, watches: Watches) {
    this.#clock = clock;
    this.#watches = watches;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** The server dies: watches break, and nobody answers any more. */
  away(): void {
    this.#isAway = true;
    this.dropWatches();
  }

  back(): void {
    this.#isAway = false;
  }

  /** Answers take so long. */
  slow(ms: number, options: FaultOptions = {}): void {
    this.#add({ kind: 'slow', ms }, options);
  }

  /** Nothing is done and no answer comes, until the client gives up. */
  hang(options: FaultOptions = {}): void {
    this.#add({ kind: 'hang' }, options);
  }

  /** Requests are turned away, with 429 or 500 for instance, and do nothing. */
  refuse(status: number, { retryAfterSeconds, message, reason, ...options }: RefusalFault = {}): void {
    const words = message ?? `injected failure ${status}`;
    const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    const refusal = new Refusal(status, words, { ...wait, ...(reason !== undefined && { reason }) });
    this.#add({ kind: 'refuse', refusal }, options);
  }

  /** What was asked for happens, and the connection breaks before the answer. */
  loseAnswers(options: FaultOptions = {}): void {
    this.#add({ kind: 'lose' }, options);
  }

  /** The connection breaks in the middle of an answer's body; watches are not meant. */
  cutAnswers(options: FaultOptions = {}): void {
    this.#add({ kind: 'cut' }, options);
  }

  /** All watches that are open end: broken off, in order, or because their version is no longer kept. */
  dropWatches(how: 'broken' | 'ended' | 'expired' = 'broken'): void {
    for (const watch of this.#watches.open) {
      if (how === 'broken') watch.break();
      else if (how === 'ended') watch.end();
      else watch.fail(expired('The resourceVersion for the provided watch is too old.').toStatus());
    }
  }

  /** The connections of all watches that are open are half open: nothing comes from them any more. New ones work. */
  silenceWatches(): void {
    for (const watch of this.#watches.open) watch.silence();
  }

  /** All watches that are open get a line that is no event. */
  garbage(text = '{"type":"ADDED","object":{"metad\n'): void {
    for (const watch of this.#watches.open) watch.write(text);
  }

  /** Ends every fault that strikes requests; silent watches stay silent. */
  clear(): void {
    this.#faults = [];
  }

  /** Before the server looks at a request. */
  async before(request: SeenRequest, signal: AbortSignal): Promise<void> {
    this.throwIfAway();
    const slow = this.#take('slow', request);
    if (slow?.kind === 'slow') await this.#clock.sleep(slow.ms, signal);
    if (this.#take('hang', request) !== undefined) await untilAborted(signal);
    this.throwIfAway();
    const refuse = this.#take('refuse', request);
    if (refuse?.kind === 'refuse') throw refuse.refusal;
  }

  /** When the answer is ready; tells whether its body shall be cut. */
  after(request: SeenRequest): 'whole' | 'cut' {
    this.throwIfAway();
    if (this.#take('lose', request) !== undefined) throw new TubeletError('unavailable', 'the answer was lost');
    return this.#take('cut', request) === undefined ? 'whole' : 'cut';
  }

  throwIfAway(): void {
    if (this.#isAway) throw new TubeletError('unavailable', 'connect ECONNREFUSED: the API server is away');
  }

  #add(trouble: Trouble, { when = () => true, times = Number.POSITIVE_INFINITY }: FaultOptions): void {
    this.#faults.unshift({ trouble, when, left: times });
  }

  #take(kind: Trouble['kind'], request: SeenRequest): Trouble | undefined {
    const fault = this.#faults.find((entry) => entry.trouble.kind === kind && entry.left > 0 && entry.when(request));
    if (fault !== undefined) fault.left--;
    return fault?.trouble;
  }
}
