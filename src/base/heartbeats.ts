/**
 * Where a loop is. Only a round can hang: a wait is on purpose, and a back-off ends by the clock.
 *
 *   round ──waitFor──> waiting ──over──> round        round ──throws──> backOff ──> round
 */
export type LoopStage = 'round' | 'waiting' | 'backOff';

/** The state of a loop. Times are of the monotonic clock. */
export interface LoopBeat {
  readonly name: string;
  readonly stage: LoopStage;
  /** When the stage began. */
  readonly since: number;
  /** When the loop last began, ended or went on with something. */
  readonly lastBeat: number;
  /** Rounds in a row that threw. */
  readonly failures: number;
  /** Pods do not come, change or go while this loop stands still. */
  readonly carriesPods: boolean;
  /**
   * The longest time that a single step of a round may take by its own deadline, where the usual limit is too short. Infinity:
   * no deadline is right for all of its steps, and the loop never counts as hung.
   */
  readonly maxStepMs: number;
}

/** What the body of a loop has for one round. */
export interface Round {
  /**
   * Waits on purpose: for work, for a time, on a watch. However long that takes, the loop is not hung. Calls to the
   * runtime or to storage are steps of the round, which must end, and do not belong here.
   */
  waitFor<T>(wait: Promise<T>): Promise<T>;
  /** One of several long steps is done: the time for the next one begins. */
  beat(): void;
}

export interface HungLoop {
  readonly loop: string;
  readonly silentMs: number;
  readonly limitMs: number;
  readonly carriesPods: boolean;
}

/** The loops of the agent. It is made before all of them; each is listed from its start until it has ended. */
export class Heartbeats {
  readonly #loops = new Set<LoopBeat>();
  readonly #maxStepMs: number;

  /** `maxStepMs` is the longest deadline of an outside call that loops make: that of calls to the runtime. */
  constructor(maxStepMs = 0) {
    this.#maxStepMs = maxStepMs;
  }

  add(loop: LoopBeat): void {
    this.#loops.add(loop);
  }

  remove(loop: LoopBeat): void {
    this.#loops.delete(loop);
  }

  all(): readonly LoopBeat[] {
    return [...this.#loops];
  }

  hung(now: number): readonly HungLoop[] {
    return findHungLoops(now, this.all(), this.#maxStepMs);
  }
}

/** The state of one loop, written by `superviseLoop` and by the rounds. */
export class LoopHeartbeat implements LoopBeat, Round {
  readonly name: string;
  readonly carriesPods: boolean;
  readonly maxStepMs: number;
  readonly #now: () => number;
  /** Waits under way in this part of the loop's life. One that was abandoned must not count in the next. */
  #waits = { underWay: 0 };
  stage: LoopStage = 'round';
  since: number;
  lastBeat: number;
  failures = 0;

  constructor(
    about: { readonly name: string; readonly carriesPods?: boolean; readonly maxStepMs?: number },
    now: () => number,
  ) {
    this.name = about.name;
    this.carriesPods = about.carriesPods ?? false;
    this.maxStepMs = about.maxStepMs ?? 0;
    this.#now = now;
    this.since = this.lastBeat = now();
  }

  beat(): void {
    this.lastBeat = this.#now();
  }

  waitFor<T>(wait: Promise<T>): Promise<T> {
    const waits = this.#waits;
    if (waits.underWay++ === 0) this.#enter('waiting');
    const over = (): void => {
      if (--waits.underWay === 0 && waits === this.#waits) this.#enter('round');
    };
    // Registered before the caller's own continuation, so that the stage has changed when the round goes on.
    wait.then(over, over);
    return wait;
  }

  began(): void {
    this.#waits = { underWay: 0 };
    this.#enter('round');
  }

  ended(): void {
    this.failures = 0;
    this.beat();
  }

  failed(): void {
    this.failures++;
    this.#waits = { underWay: 0 };
    this.#enter('backOff');
  }

  #enter(stage: LoopStage): void {
    this.stage = stage;
    this.since = this.lastBeat = this.#now();
  }
}

/** A step with a deadline of its own ends in time or by its deadline: twice that is clearly too long. */
const deadlinesPerLimit = 2;
const minLimitMs = 5 * 60_000;

/** How long a loop may be silent within a round when the longest outside call of a round takes `maxStepMs`. */
export function hungAfterMs(maxStepMs: number): number {
  return Math.max(minLimitMs, deadlinesPerLimit * maxStepMs);
}

/** The loops that hang in a round. A slow outside call never makes one: it has a deadline, which ends the step before. */
export function findHungLoops(now: number, beats: readonly LoopBeat[], maxStepMs: number): readonly HungLoop[] {
  return beats.flatMap(({ name, stage, lastBeat, carriesPods, maxStepMs: own }) => {
    const limitMs = hungAfterMs(Math.max(maxStepMs, own));
    const silentMs = now - lastBeat;
    return stage === 'round' && silentMs > limitMs ? [{ loop: name, silentMs, limitMs, carriesPods }] : [];
  });
}

export function describeHungLoop({ loop, silentMs, limitMs }: HungLoop): string {
  return `loop ${loop} has been in one step for ${Math.round(silentMs / 1_000)} s, longer than ${Math.round(limitMs / 1_000)} s`;
}
