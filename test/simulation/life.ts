import { linkedSignal, type LinkedSignal } from '../../src/base/abort.ts';
import type { CancelTimer, Clock } from '../../src/base/clock.ts';
import { describeError, TubeletError } from '../../src/base/errors.ts';
import { sleepBy } from '../../src/base/sleep.ts';

/** Who looks on at the border between the agent and the world. */
export interface BorderWatch {
  /** A call is about to leave the agent. */
  leaving(verb: string, subject: unknown): void;
  /** Its outcome came back; undefined is success. */
  back(verb: string, subject: unknown, failure: string | undefined): void;
  /** The fuse burnt down: the agent is dead. */
  died(): void;
}

interface LifeDeps {
  readonly clock: Clock;
  readonly watch: BorderWatch;
  /** How long the disk takes for the next operation, in milliseconds. */
  readonly diskDelayMs: () => number;
  /** The runtime pays no heed to calls that are given up: it does what it was asked for, late. */
  readonly isDeaf: () => boolean;
}

/** Burns with every call over the border, or with every step that files and mounts take. */
interface Fuse {
  readonly of: 'calls' | 'steps';
  readonly at: 'before' | 'after';
  left: number;
}

/** A promise of which nobody will hear again. */
const silence = <T>(): Promise<T> => new Promise<T>(() => {});

/**
 * One life of the agent's process. Everything the agent can do to the world goes through here: clock, runtime, disk.
 * After death nothing goes through any more, and no answer and no timer comes back, so whatever code of that life is
 * still in memory can never act again: kill -9 at any await.
 */
export class Life {
  readonly clock: Clock;
  readonly #deps: LifeDeps;
  readonly #calls = new Set<LinkedSignal>();
  readonly #streams = new Set<LinkedSignal>();
  readonly #timers = new Set<CancelTimer>();
  #fuse: Fuse | undefined;
  #dead = false;

  constructor(deps: LifeDeps) {
    this.#deps = deps;
    const after = (ms: number, callback: () => void): CancelTimer => this.#after(ms, callback);
    this.clock = {
      now: () => deps.clock.now(),
      monotonic: () => deps.clock.monotonic(),
      after,
      sleep: (ms, signal) => sleepBy(after, ms, signal),
    };
  }

  /** The runtime pays no heed to calls that are given up. */
  get isUnheeded(): boolean {
    return this.#deps.isDeaf();
  }

  get dead(): boolean {
    return this.#dead;
  }

  /** Timers that this life has armed, and calls of it that are under way. */
  pending(): { readonly timers: number; readonly calls: number } {
    return { timers: this.#timers.size, calls: this.#calls.size };
  }

  /**
   * Dies at the nth call from now, before it is made or before its answer is read; or at the nth step of files and mounts,
   * before or after it is taken, of which a call may have many.
   */
  lightFuse(left: number, at: Fuse['at'], of: Fuse['of'] = 'calls'): void {
    this.#fuse = { of, at, left };
  }

  /** Files and mounts take a step, or have taken it: this life may end here. */
  stepping(at: Fuse['at']): void {
    if (this.#dead || this.#burns(at, 'steps')) throw new TubeletError('cancelled', 'the caller is dead');
  }

  snuffFuse(): void {
    this.#fuse = undefined;
  }

  /** `cut`: calls under way break with the connection. `linger`: the runtime finishes them for nobody. */
  die(how: 'cut' | 'linger'): void {
    if (this.#dead) return;
    this.#dead = true;
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    const broken = how === 'cut' ? [...this.#streams, ...this.#calls] : this.#streams;
    for (const call of broken) call.abort(new Error('the caller is dead'));
    this.#calls.clear();
    this.#streams.clear();
  }

  /** Lets one call out and its outcome in, for as long as there is life. */
  async through<T>(
    verb: string,
    subject: unknown,
    run: (signal: AbortSignal) => Promise<T>,
    parent?: AbortSignal,
  ): Promise<T> {
    const linked = linkedSignal(parent);
    try {
      return await this.calling(linked, verb, subject, run);
    } finally {
      linked.release();
    }
  }

  /** The same for a caller that needs the signal for longer. */
  async calling<T>(
    linked: LinkedSignal,
    verb: string,
    subject: unknown,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    this.#calls.add(linked);
    try {
      return await this.passing(verb, subject, () => run(linked.signal));
    } finally {
      this.#calls.delete(linked);
    }
  }

  /** A request whose connection ends with this life; the server then drops it, unless it has begun with it. */
  async onConnection<T>(linked: LinkedSignal, run: () => Promise<T>): Promise<T> {
    this.#streams.add(linked);
    try {
      return await run();
    } finally {
      this.#streams.delete(linked);
    }
  }

  /** What comes piece by piece. Death breaks it off, and the dead hear nothing of that. */
  pieces<T>(linked: LinkedSignal, source: AsyncIterable<T>): AsyncGenerator<T, void> {
    this.#streams.add(linked);
    return this.#pieces(linked, source);
  }

  /** Takes as long as the disk; the disk cannot be told to give up. */
  onDisk<T>(verb: string, subject: unknown, run: () => Promise<T>): Promise<T> {
    return this.passing(verb, subject, async () => {
      const delayMs = this.#deps.diskDelayMs();
      if (delayMs > 0) await this.clock.sleep(delayMs);
      return run();
    });
  }

  async passing<T>(verb: string, subject: unknown, run: () => Promise<T>): Promise<T> {
    if (this.#dead || this.#burns('before', 'calls')) return silence();
    this.#deps.watch.leaving(verb, subject);
    try {
      const answer = await run();
      if (this.#dead || this.#burns('after', 'calls')) return await silence();
      this.#deps.watch.back(verb, subject, undefined);
      return answer;
    } catch (error) {
      if (this.#dead || this.#burns('after', 'calls')) return await silence();
      this.#deps.watch.back(verb, subject, describeError(error));
      throw error;
    }
  }

  async *#pieces<T>(linked: LinkedSignal, source: AsyncIterable<T>): AsyncGenerator<T, void> {
    try {
      for await (const piece of source) {
        if (this.#dead) await silence();
        yield piece;
      }
      if (this.#dead) await silence();
    } catch (error) {
      if (this.#dead) await silence();
      throw error;
    } finally {
      this.#streams.delete(linked);
      linked.release();
    }
  }

  #after(ms: number, callback: () => void): CancelTimer {
    if (this.#dead) return () => {};
    const cancel = this.#deps.clock.after(ms, () => {
      this.#timers.delete(forget);
      callback();
    });
    const forget = (): void => {
      this.#timers.delete(forget);
      cancel();
    };
    this.#timers.add(forget);
    return forget;
  }

  #burns(at: Fuse['at'], of: Fuse['of']): boolean {
    if (this.#fuse?.at !== at || this.#fuse.of !== of) return false;
    this.#fuse.left--;
    if (this.#fuse.left > 0) return false;
    this.die(at === 'before' ? 'cut' : 'linger');
    this.#deps.watch.died();
    return true;
  }
}
