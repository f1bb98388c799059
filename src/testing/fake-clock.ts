import { createHook } from 'node:async_hooks';
import { readFile } from 'node:fs/promises';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { DueList, type DueEntry } from '../base/due-list.ts';
import { sleepBy } from '../base/sleep.ts';
import { systemClock } from '../base/system-clock.ts';

interface FakeClockOptions {
  /** Wall time at the beginning, in milliseconds. */
  readonly wall?: number;
  /** Turns of the real event loop without a call to the clock after which the program counts as quiet. */
  readonly quietTurns?: number;
  /** Turns after which the clock goes on although the program is still busy. */
  readonly mostTurns?: number;
  /** Timers that may run in one instant before the clock takes it for an endless loop. */
  readonly mostTimersPerInstant?: number;
}

const outsideRequest = /^(FSReq|CloseReq|GetAddrInfoReq|PipeConnect|TCPConnect)/;
/** A timer takes some time: a wait that is lost in the sum with the time would end at the moment at which it began. */
const shortestMs = 0.001;
const quickWaits = 50;
const slowWaits = 1_000;
const realTime = systemClock();
const unlisted = followRequests();

/**
 * Virtual time. It stands still until a test moves it, and then goes from timer to timer. After each timer the program
 * gets real turns of the event loop until it is quiet, so that what a timer set off is done before the next one runs.
 */
export class FakeClock implements Clock {
  readonly #timers = new DueList<() => void>();
  readonly #quietTurns: number;
  readonly #mostTurns: number;
  readonly #mostTimersPerInstant: number;
  #monotonic = 0;
  /** Wall time minus monotonic time. */
  #wallOffset: number;
  /** Counts calls that show that the program is at work. */
  #activity = 0;
  #moving = false;
  /** Requests that did not end in a second of real time, such as a read from a silent pipe: nobody waits for those. */
  #stuckRequests = 0;

  constructor(options: FakeClockOptions = {}) {
    this.#wallOffset = options.wall ?? Date.UTC(2025, 0, 1);
    this.#quietTurns = options.quietTurns ?? 4;
    this.#mostTurns = options.mostTurns ?? 2_000;
    this.#mostTimersPerInstant = options.mostTimersPerInstant ?? 10_000;
  }

  now(): number {
    return this.#monotonic + this.#wallOffset;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepBy((delay, callback) => this.after(delay, callback), ms, signal);
  }

  after(ms: number, callback: () => void): CancelTimer {
    this.#activity++;
    const entry = this.#timers.insert(this.#monotonic + (ms > 0 ? Math.max(ms, shortestMs) : 0), callback);
    return () => {
      this.#activity++;
      this.#timers.remove(entry);
    };
  }

  /** Timers that are armed. */
  pending(): number {
    return this.#timers.size;
  }

  /** Monotonic time at which the next timer is due. */
  nextDue(): number | undefined {
    return this.#timers.first()?.due;
  }

  /** Sets the wall as an operator or NTP would; monotonic time and timers do not notice. */
  setWall(ms: number): void {
    this.#wallOffset = ms - this.#monotonic;
  }

  async advance(ms: number): Promise<void> {
    await this.advanceTo(this.#monotonic + ms);
  }

  /** Moves to a monotonic time and runs what is due on the way. */
  async advanceTo(monotonicMs: number): Promise<void> {
    if (!(monotonicMs >= this.#monotonic)) throw new Error(`time cannot go from ${this.#monotonic} to ${monotonicMs}`);
    await this.#move(monotonicMs, () => false);
    this.#monotonic = monotonicMs;
  }

  /** Jumps from timer to timer until the predicate holds; throws when it does not within `limitMs`. */
  async runUntil(predicate: () => boolean, limitMs: number): Promise<void> {
    const limit = this.#monotonic + limitMs;
    if (await this.#move(limit, predicate)) return;
    this.#monotonic = limit;
    throw new Error(`not reached within ${limitMs} ms of virtual time; ${this.pending()} timers pending`);
  }

  /** Lets the program do everything it can do without time going on. */
  async settle(): Promise<void> {
    let quiet = 0;
    for (let turn = 0; turn < this.#mostTurns && quiet < this.#quietTurns; turn++) {
      const before = this.#activity;
      await new Promise((resolve) => void setImmediate(resolve));
      const waited = await this.#waitForRequests();
      quiet = before === this.#activity && !waited ? quiet + 1 : 0;
    }
  }

  /**
   * Files are read and written by other threads; their answers come when they come, so turns without them say nothing.
   * First the loop turns, which is quick; on a busy machine it then gives the processor away. Answers whether it waited.
   */
  async #waitForRequests(): Promise<boolean> {
    for (let wait = 0; ; wait++) {
      const count = requestsUnderWay();
      this.#stuckRequests = Math.min(this.#stuckRequests, count);
      if (count <= this.#stuckRequests) return wait > 0;
      if (wait < quickWaits) await new Promise((resolve) => void setImmediate(resolve));
      else if (wait < quickWaits + slowWaits) await realTime.sleep(1);
      else this.#stuckRequests = count;
    }
  }

  /** Answers whether `stop` held before the limit. */
  async #move(limit: number, stop: () => boolean): Promise<boolean> {
    if (this.#moving) throw new Error('the clock is being moved already; a timer or a second test step moves it too');
    this.#moving = true;
    try {
      await this.settle();
      let ranThisInstant = 0;
      for (;;) {
        if (stop()) return true;
        const next: DueEntry<() => void> | undefined = this.#timers.first();
        if (next === undefined || next.due > limit) return false;
        ranThisInstant = next.due > this.#monotonic ? 1 : ranThisInstant + 1;
        if (ranThisInstant > this.#mostTimersPerInstant) {
          throw new Error(
            `${this.#mostTimersPerInstant} timers ran at ${this.#monotonic} without time going on: ` +
              'a timer without delay seems to arm itself again for ever',
          );
        }
        this.#monotonic = Math.max(this.#monotonic, next.due);
        this.#timers.remove(next);
        next.value();
        await this.settle();
      }
    } finally {
      this.#moving = false;
    }
  }
}

/** Requests of this process that the kernel or another thread is working on. */
function requestsUnderWay(): number {
  return requestsListed() + unlisted.size;
}

function requestsListed(): number {
  return process.getActiveResourcesInfo().filter((kind) => outsideRequest.test(kind)).length;
}

/** Node.js 26 reads a small file with one request that it does not list. */
function listsReads(): boolean {
  const before = requestsListed();
  readFile('/dev/null').catch(() => {});
  return requestsListed() > before;
}

/** Ids of file requests, where not all of them are listed. */
function followRequests(): ReadonlySet<number> {
  const underWay = new Set<number>();
  if (listsReads()) return underWay;
  const end = (id: number): void => void underWay.delete(id);
  const hooks = {
    init: (id: number, type: string): void => void (type === 'FSREQCALLBACK' && underWay.add(id)),
    after: end,
    destroy: end,
    trackPromises: false,
  };
  createHook(hooks).enable();
  return underWay;
}
