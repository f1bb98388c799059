import { linkedSignal, raceAbort, withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';

interface ComponentRunnerDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** How long a single component may take to stop. */
  readonly stopMs: number;
  /** How long a single component may take to start, before the whole start fails; five minutes unless told. */
  readonly startMs?: number;
}

const usualStartMs = 5 * 60_000;
/** From then on a start is named as late, and again after twice the time each. */
const lateMs = 10_000;

/**
 * Starts components in order and stops those that were started in reverse. A component that fails to start stops the
 * start, and so does one that takes too long, which is named before; one that fails or hangs in its stop is named and does
 * not keep the others from stopping. What may take any time, as waiting for the runtime, is no part of a start.
 */
export class ComponentRunner {
  readonly #deps: ComponentRunnerDeps;
  readonly #started: Component[] = [];
  readonly #connections: (() => Promise<void>)[] = [];

  constructor(deps: ComponentRunnerDeps) {
    this.#deps = deps;
  }

  /** Starts more components, in the order of their dependence: each may use those before it. */
  async start(components: readonly Component[], signal: AbortSignal): Promise<void> {
    for (const component of components) {
      signal.throwIfAborted();
      // It counts as started from here on: a start that was interrupted may have left something to stop.
      this.#started.push(component);
      try {
        await this.#startInTime(component, signal);
      } catch (cause) {
        if (signal.aborted) throw cause;
        throw new TubeletError('internal', `cannot start ${component.name}`, { cause });
      }
      this.#deps.log.debug(2, 'Component started', { component: component.name });
    }
  }

  async #startInTime(component: Component, signal: AbortSignal): Promise<void> {
    const { clock, startMs = usualStartMs } = this.#deps;
    const cancelWarnings = this.#warnWhileLate(component.name);
    // The component keeps the signal of the agent's life, so the deadline has one of its own.
    const deadline = linkedSignal(undefined);
    const cancelDeadline = clock.after(startMs, () =>
      deadline.abort(new TubeletError('timeout', `it did not start within ${startMs / 1_000} s`)),
    );
    try {
      await raceAbort(component.start(signal), deadline.signal);
    } finally {
      cancelDeadline();
      cancelWarnings();
    }
  }

  #warnWhileLate(component: string): () => void {
    const { clock, log } = this.#deps;
    const began = clock.monotonic();
    let cancel = (): void => {};
    const warnIn = (ms: number): void => {
      cancel = clock.after(ms, () => {
        const seconds = Math.round((clock.monotonic() - began) / 1_000);
        log.warn('Component takes long to start, the others wait for it', { component, seconds });
        warnIn(2 * ms);
      });
    };
    warnIn(lateMs);
    return () => cancel();
  }

  /** A connection that components use: it is closed when all of them have stopped, the last one first. */
  closeAtEnd(close: () => Promise<void>): void {
    this.#connections.push(close);
  }

  async stop(): Promise<void> {
    const { clock, log, stopMs } = this.#deps;
    for (let component = this.#started.pop(); component !== undefined; component = this.#started.pop()) {
      const { name } = component;
      const stop = component.stop.bind(component);
      try {
        await withTimeout(clock, stopMs, stop);
      } catch (error) {
        log.error(error, 'Component did not stop cleanly', { component: name });
      }
    }
    for (let close = this.#connections.pop(); close !== undefined; close = this.#connections.pop()) await close();
  }
}
