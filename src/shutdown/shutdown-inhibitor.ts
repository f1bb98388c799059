import { linkedSignal, withTimeout } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Component } from '../base/component.ts';
import { describeError, isKind, messageOf } from '../base/errors.ts';
import type { Heartbeats, Round } from '../base/heartbeats.ts';
import type { Log } from '../base/log.ts';
import { superviseLoop, type LoopHandle } from '../base/loop.ts';
import type { Gauge, Metrics } from '../base/metrics.ts';
import type { Random } from '../base/random.ts';
import { Wakeup } from '../base/wakeup.ts';
import { nodeEvents } from '../model/event-reasons.ts';
import type { Logind } from '../model/logind.ts';
import { dropIn, dropInText, tooShort } from './delay.ts';
import type { NodeEvents, ShutdownFiles } from './ports.ts';

interface ShutdownInhibitorDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly metrics: Metrics;
  /** Undefined where no systemd runs. */
  readonly logind: Logind | undefined;
  readonly files: Pick<ShutdownFiles, 'read' | 'replace' | 'makeFolder'>;
  readonly events: NodeEvents;
  readonly neededSeconds: number;
  /** The machine is about to go down, or that was called off. */
  readonly onShutdown: (active: boolean) => void;
}

const retryMs = 1_000;
const firstAnswerMs = 2_000;
const checkMs = 300_000;
/** logind reads its configuration anew a moment after it is asked to. */
const rereads = 10;
const rereadMs = 200;
const maxDropInBytes = 4_096;
const who = 'kubelet';
const why = 'Kubelet needs time to handle node shutdown';
const noSystemd =
  'this machine has no systemd that waits for pods: run "tubelet shutdown" before the machine goes down';

/**
 * Has the machine wait for its pods: holds a delay lock of logind, sees to it that it delays for long enough, and hears
 * when the machine is about to go down. What is missing of that is an event of the node and a metric.
 *
 *   watching ──delay granted, lock held──> holding ──shutdown──> holding ──release──> released ──called off──> holding
 *      ^                                      │
 *      └──────── bus lost, a call failed ─────┘ again after a second; an old lock is kept until there is a new one
 */
export class ShutdownInhibitor implements Component {
  readonly name = 'shutdown-inhibitor';
  readonly #deps: ShutdownInhibitorDeps;
  readonly #stopped = new AbortController();
  readonly #changed = new Wakeup();
  readonly #granted: Gauge;
  #lock: { release(): void } | undefined;
  /** For how long logind waited when it was asked last. */
  #grantedMs = 0;
  /** logind grants no new lock while the machine goes down. */
  #goingDown = false;
  #problem: string | undefined;
  #failure: string | undefined;
  #loop: LoopHandle | undefined;

  constructor(deps: ShutdownInhibitorDeps) {
    this.#deps = deps;
    this.#granted = deps.metrics.gauge({
      name: 'tubelet_shutdown_delay_seconds',
      help: 'For how long the machine waits for this node before it goes down, at most; 0 while it does not wait.',
      stability: 'ALPHA',
    });
    this.#granted.set(0);
  }

  async start(): Promise<void> {
    const { logind, clock, random, log, heartbeats } = this.#deps;
    if (logind === undefined) return this.#report(noSystemd);
    await this.#ask(logind);
    const body = (signal: AbortSignal, round: Round): Promise<void> => this.#round(logind, signal, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
    this.release();
  }

  /** Nothing is left to wait for. */
  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
    this.#granted.set(0);
  }

  /** An agent that is started while the machine goes down knows so before its first pod is admitted. */
  async #ask(logind: Logind): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      if (await withTimeout(clock, firstAnswerMs, () => logind.isShuttingDown())) this.#heard(true);
    } catch (error) {
      log.debug(1, 'Whether the machine goes down cannot be asked yet', { err: messageOf(error) });
    }
  }

  async #round(logind: Logind, signal: AbortSignal, round: Round): Promise<void> {
    const { clock, log } = this.#deps;
    const bus = linkedSignal(signal);
    try {
      await this.#hold(logind, bus.signal, round);
      this.#failure = undefined;
      log.info('Restarting watch for node shutdown events');
    } catch (error) {
      if (signal.aborted) return;
      this.#failed(error);
      if (this.#lock === undefined) this.#report(messageOf(error));
    } finally {
      bus.abort();
    }
    await round.waitFor(clock.sleep(retryMs, signal));
  }

  /** Returns when the bus is lost. */
  async #hold(logind: Logind, signal: AbortSignal, round: Round): Promise<void> {
    const bus = { isLost: false };
    const { lost } = await logind.watchShutdown((active) => this.#heard(active), signal);
    const onLost = (): void => {
      bus.isLost = true;
      this.#changed.wake();
    };
    lost.then(onLost, onLost);
    // The announcement may have been made before this agent could hear it.
    const goingDown = await logind.isShuttingDown();
    if (goingDown !== this.#goingDown) this.#heard(goingDown);
    if (!this.#goingDown) await this.#take(logind, signal);
    while (!bus.isLost) {
      if (this.#lock === undefined && !this.#goingDown) await this.#take(logind, signal);
      await round.waitFor(this.#pause(signal));
      if (this.#lock !== undefined && !this.#goingDown && !bus.isLost) await this.#check(logind, signal);
    }
  }

  /** Until something has changed; the delay is read again every few minutes, because operators configure logind. */
  async #pause(signal: AbortSignal): Promise<void> {
    const cancel = this.#deps.clock.after(checkMs, () => this.#changed.wake());
    try {
      await this.#changed.wait(signal);
    } finally {
      cancel();
    }
  }

  /** A delay that is not what it was is asked for again, with a new lock. */
  async #check(logind: Logind, signal: AbortSignal): Promise<void> {
    if ((await logind.inhibitDelayMaxMs()) !== this.#grantedMs) await this.#take(logind, signal);
  }

  #heard(active: boolean): void {
    this.#goingDown = active;
    this.#deps.onShutdown(active);
    this.#changed.wake();
  }

  async #take(logind: Logind, signal: AbortSignal): Promise<void> {
    const { neededSeconds, log } = this.#deps;
    let grantedMs = await logind.inhibitDelayMaxMs();
    if (tooShort(neededSeconds, grantedMs) !== undefined) grantedMs = await this.#raise(logind, signal);
    const before = this.#lock;
    this.#lock = await logind.inhibitShutdown(who, why);
    before?.release();
    this.#grantedMs = grantedMs;
    this.#granted.set(grantedMs / 1_000);
    log.debug(1, 'The machine waits for pods before it goes down', { delayMs: grantedMs, neededSeconds });
    this.#report(tooShort(neededSeconds, grantedMs));
  }

  /** The delay that logind grants after it was asked for more. */
  async #raise(logind: Logind, signal: AbortSignal): Promise<number> {
    const { clock, files, neededSeconds, log } = this.#deps;
    const text = dropInText(neededSeconds);
    if ((await this.#dropIn()) !== text) {
      await files.makeFolder(dropIn.folder, dropIn.folderMode);
      await files.replace(dropIn.path, text, dropIn.mode);
      log.info('Raised the delay of a shutdown in the configuration of logind', { path: dropIn.path, neededSeconds });
    }
    await logind.reload();
    for (let reread = 1; ; reread++) {
      const grantedMs = await logind.inhibitDelayMaxMs();
      if (tooShort(neededSeconds, grantedMs) === undefined || reread === rereads) return grantedMs;
      await clock.sleep(rereadMs, signal);
    }
  }

  async #dropIn(): Promise<string | undefined> {
    try {
      return await this.#deps.files.read(dropIn.path, maxDropInBytes);
    } catch (error) {
      if (isKind(error, 'notFound')) return undefined;
      throw error;
    }
  }

  /** It is tried each second, and named once. */
  #failed(error: unknown): void {
    const { log } = this.#deps;
    const failure = describeError(error);
    if (failure === this.#failure)
      return log.debug(4, 'Unable to watch the node for shutdown events', { err: failure });
    this.#failure = failure;
    log.error(error, 'Unable to watch the node for shutdown events');
  }

  /** Says once what is missing. */
  #report(problem: string | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { log, events } = this.#deps;
    if (problem === undefined) return log.info('The machine waits long enough for pods before it goes down again');
    log.warn('The machine does not wait long enough for pods before it goes down', { reason: problem });
    const message = `Pods may be cut off when the machine goes down: ${problem}`;
    events.record({ type: 'Warning', reason: nodeEvents.shutdownNotDelayed, message });
  }
}
