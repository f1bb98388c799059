import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { Duration } from '../base/duration.ts';
import { describeError, messageOf, TubeletError } from '../base/errors.ts';
import { describeHungLoop, type Heartbeats, type HungLoop, type Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop, type LoopHandle } from '../base/loop.ts';
import type { Random } from '../base/random.ts';

interface ServiceWatchdogDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  /** Answers false when no service manager listens. */
  readonly notifier: { watchdog(): Promise<boolean> };
  /** The service manager restarts the agent when it got no notification for this long. */
  readonly timeoutMs: number;
}

/** Twice within the time that the service manager waits, as it recommends. */
const notificationsPerTimeout = 2;
/** While notifications are held back the loops are checked more often, so that a recovery is reported in time. */
const checksPerTimeout = 8;
const minPeriodMs = 10;
const notSupported = 'failed to notify systemd watchdog, notification not supported - (i.e. NOTIFY_SOCKET is unset)';

/**
 * Notifies the watchdog of the service manager while every loop of the agent makes progress. A hung loop stops that, and so
 * does a blocked event loop: the service manager then restarts the agent. A slow runtime stops nothing.
 *
 *   notifying ──a loop hangs, named in the log──> holding back ──it recovers──> notifying
 */
export class ServiceWatchdog implements Component {
  readonly name = 'service-watchdog';
  readonly #deps: ServiceWatchdogDeps;
  readonly #stopped = new AbortController();
  /** The loops that were logged last; empty while the watchdog is notified. */
  #named = '';
  #failing = false;
  #loop: LoopHandle | undefined;

  constructor(deps: ServiceWatchdogDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    const { clock, random, log, heartbeats } = this.#deps;
    const { signal } = this.#stopped;
    const body = (stop: AbortSignal, round: Round): Promise<void> => this.#round(stop, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
  }

  async #round(signal: AbortSignal, round: Round): Promise<void> {
    const { clock, heartbeats, timeoutMs } = this.#deps;
    const hung = heartbeats.hung(clock.monotonic());
    this.#report(hung);
    const notified = hung.length === 0 && (await this.#notify());
    const times = notified ? notificationsPerTimeout : checksPerTimeout;
    await round.waitFor(clock.sleep(Math.max(minPeriodMs, timeoutMs / times), signal));
  }

  #report(hung: readonly HungLoop[]): void {
    const { log, timeoutMs } = this.#deps;
    const names = hung.map(({ loop }) => loop).join();
    if (names === this.#named) return;
    this.#named = names;
    if (hung.length === 0) return log.info('All loops make progress again, the systemd watchdog is notified');
    const err = hung.map((loop) => `checker syncloop failed: ${describeHungLoop(loop)}`).join(', ');
    log.error(undefined, 'Do not notify watchdog this iteration as the kubelet is reportedly not healthy', {
      err,
      restartedWithinMs: timeoutMs,
    });
  }

  async #notify(): Promise<boolean> {
    const { log, notifier } = this.#deps;
    try {
      if (!(await notifier.watchdog())) throw new TubeletError('unsupported', notSupported);
      this.#failing = false;
      return true;
    } catch (error) {
      if (!this.#failing) log.warn('The systemd watchdog cannot be notified', { err: describeError(error) });
      this.#failing = true;
      return false;
    }
  }
}

/** A manager that restarts the agent after less would do so whenever the machine is busy. */
const shortestMs = 1_000;

/** The interval that the service manager has set; undefined without one. An interval that cannot be used is an error. */
export function watchdogSpan(read: () => number | undefined): number | undefined {
  let timeoutMs: number | undefined;
  try {
    timeoutMs = read();
  } catch (error) {
    throw new TubeletError('invalid', `create health checker: configure watchdog: ${messageOf(error)}`);
  }
  if (timeoutMs === undefined || timeoutMs > shortestMs) return timeoutMs;
  const shown = Duration.ofMillis(timeoutMs).toString();
  throw new TubeletError('invalid', `create health checker: configure watchdog timeout too small: ${shown}`);
}
