import { withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { TubeletError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';

export interface ComponentRunnerDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** How long a single component may take to stop. */
  readonly stopMs: number;
}

/**
 * Starts components in order and stops those that were started in reverse. A component that fails to start stops the
 * start; one that fails or hangs in its stop is named and does not keep the others from stopping.
 */
export class ComponentRunner {
  readonly #deps: ComponentRunnerDeps;
  readonly #started: Component[] = [];

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
        await component.start(signal);
      } catch (cause) {
        if (signal.aborted) throw cause;
        throw new TubeletError('internal', `cannot start ${component.name}`, { cause });
      }
      this.#deps.log.debug(2, 'Component started', { component: component.name });
    }
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
  }
}
