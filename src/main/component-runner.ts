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
  /** How long a single component may take to start, before the whole start fails; default: five minutes. */
  readonly startMs?: number;
}

const defaultStartMs = 5 * 60_000;
/** After this time a start is logged as late, and again each time the wait has doubled. */
const lateMs = 10_000;

/**
 * Starts components in order and stops those that were started in reverse. A component that fails to start stops the
 * start, and so does one that takes too long, after a warning; one that fails or hangs in its stop is logged and does
 * not keep the others from stopping. Work that may take any time, such as waiting for the runtime, must not be part of
 * a start.
 */
export class ComponentRunner {
  readonly #deps: ComponentRunnerDeps;
  readonly #started: Component[] = [];
  readonly #connections: (() => Promise<void>)[] = [];

  constructor(deps: ComponentRunnerDeps) {
    this.#deps = deps;
  }

  /** Starts more components, in the order of their dependencies: each may use those before it. */
  async start(components: readonly Component[], signal: AbortSignal): Promise<void> {
    for (const component of components) {
      signal.throwIfAborted();
      // Counts as started before its start has finished: an interrupted start may have left something to stop.
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
    const { clock, startMs = defaultStartMs } = this.#deps;
    const cancelWarnings = this.#warnWhileLate(component.name);
    // The component keeps the signal of the agent's life, so the deadline needs a signal of its own.
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

  /** Registers a connection that components use: it is closed after all of them have stopped, the last one first. */
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
