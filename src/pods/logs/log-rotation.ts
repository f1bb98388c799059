import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { DelayQueue } from '../../base/delay-queue.ts';
import { messageOf, TubeletError } from '../../base/errors.ts';
import type { ContainerId, PodUid } from '../../base/ids.ts';
import type { Heartbeats, Round } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import { superviseLoop, type LoopHandle } from '../../base/loop.ts';
import type { Random } from '../../base/random.ts';
import { computeNextCheck, growthAfterRotation, measureGrowth, type Growth } from './compute-next-check.ts';
import type { RotationLimits } from './compute-rotation.ts';
import { logFields, type ContainerLog } from './container-log.ts';
import { LogCompression } from './log-compression.ts';
import type { ContainerLogs, LogFiles, LogRuntime, LogWatch } from './ports.ts';
import { removeLog, rotateLog } from './rotate-log.ts';

/** As the configuration has them; a negative size turns rotation off. */
export interface LogSettings extends RotationLimits {
  readonly maxWorkers: number;
  readonly monitorIntervalMs: number;
}

export interface LogRotationDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly logs: ContainerLogs;
  readonly files: LogFiles;
  readonly watch: LogWatch;
  readonly runtime: LogRuntime;
  readonly limits: LogSettings;
}

/** What is known of the log of a running container. */
interface TrackedLog {
  readonly log: ContainerLog;
  growth: Growth | undefined;
  checking: boolean;
  /** Ends the watch for the next write, where there is one. */
  unwatch: (() => void) | undefined;
  failures: number;
  /** Logged once, not at every try. */
  lastFailure: string | undefined;
}

const firstRetryMs = 1_000;

/**
 * Keeps the logs of running containers within their limits.
 *
 *   quiet ──first write──> growing ──limit reached──> rotated
 *     ^                       │  ^                       │
 *     └──── stopped growing ──┘  └───────────────────────┘
 *
 * A quiet log costs a watch and a check per round. One that grows has checks of its own, at times that follow from how
 * fast it grows. Checks of different logs do not wait for one another.
 */
export class LogRotation implements Component {
  readonly name = 'log-rotation';
  readonly #deps: LogRotationDeps;
  readonly #compression: LogCompression;
  readonly #tracked = new Map<ContainerId, TrackedLog>();
  readonly #due: DelayQueue<ContainerId | 'round'>;
  readonly #checks = new Set<Promise<void>>();
  readonly #stopped = new AbortController();
  #loop: LoopHandle | undefined;
  #watchFailed = false;

  constructor(deps: LogRotationDeps) {
    this.#deps = deps;
    this.#due = new DelayQueue(deps.clock);
    this.#compression = new LogCompression({ ...deps, maxWorkers: deps.limits.maxWorkers });
  }

  async start(): Promise<void> {
    const { clock, random, log, limits, heartbeats } = this.#deps;
    if (limits.maxSize < 0) {
      log.info('Container log rotation is off', { containerLogMaxSize: limits.maxSize });
      return;
    }
    this.#due.add('round', 0);
    const body = (signal: AbortSignal, round: Round): Promise<void> => this.#next(signal, round);
    this.#loop = superviseLoop({ name: this.name, heartbeats, clock, random, log, signal: this.#stopped.signal, body });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop?.done;
    for (const id of this.#tracked.keys()) this.#forget(id);
    await Promise.all(this.#checks);
    await this.#compression.endAll();
  }

  /** Containers of the pod may have been started or removed. */
  changed(uid: PodUid): void {
    if (this.#loop === undefined || this.#stopped.signal.aborted) return;
    for (const log of this.#deps.logs.of(uid)) {
      if (!log.running) this.#forget(log.id);
      else if (!this.#tracked.has(log.id)) this.#due.add(this.#track(log).log.id, 0);
    }
  }

  /** Removes all files of the log of a container that is going to be removed. */
  async remove(path: string): Promise<void> {
    await this.#compression.end(path);
    await removeLog(this.#deps.files, path);
  }

  async #next(signal: AbortSignal, round: Round): Promise<void> {
    const key = await round.waitFor(this.#due.take(signal));
    if (key === 'round') this.#round();
    else this.#begin(this.#tracked.get(key));
  }

  /** Level-triggered: a change that was missed is found here. */
  #round(): void {
    this.#due.add('round', this.#deps.limits.monitorIntervalMs);
    const running = [...this.#deps.logs.all()].filter((log) => log.running);
    const ids = new Set(running.map(({ id }) => id));
    for (const id of this.#tracked.keys()) if (!ids.has(id)) this.#forget(id);
    for (const log of running) {
      const tracked = this.#tracked.get(log.id) ?? this.#track(log);
      if (!this.#due.has(log.id)) this.#begin(tracked);
    }
  }

  #track(log: ContainerLog): TrackedLog {
    const tracked: TrackedLog = {
      log,
      growth: undefined,
      checking: false,
      unwatch: undefined,
      failures: 0,
      lastFailure: undefined,
    };
    this.#tracked.set(log.id, tracked);
    return tracked;
  }

  #forget(id: ContainerId): void {
    this.#tracked.get(id)?.unwatch?.();
    this.#tracked.delete(id);
    this.#due.cancel(id);
  }

  #begin(tracked: TrackedLog | undefined): void {
    if (tracked === undefined || tracked.checking) return;
    tracked.checking = true;
    const check = this.#check(tracked).finally(() => {
      tracked.checking = false;
      this.#checks.delete(check);
    });
    this.#checks.add(check);
  }

  async #check(tracked: TrackedLog): Promise<void> {
    const { clock, files, limits } = this.#deps;
    const { log } = tracked;
    tracked.unwatch?.();
    tracked.unwatch = undefined;
    try {
      const size = await files.size(log.path);
      tracked.growth = measureGrowth(tracked.growth, size ?? 0, clock.monotonic());
      if (size === undefined || size >= Math.max(1, limits.maxSize)) await this.#rotate(tracked, size, tracked.growth);
      tracked.failures = 0;
      tracked.lastFailure = undefined;
      this.#schedule(tracked, tracked.growth);
    } catch (error) {
      this.#failed(tracked, error);
    }
  }

  async #rotate(tracked: TrackedLog, size: number | undefined, growth: Growth): Promise<void> {
    const { clock, log, limits } = this.#deps;
    const { path } = tracked.log;
    await this.#compression.end(path);
    const toCompress = await rotateLog(this.#deps, tracked.log, size, this.#stopped.signal);
    if (size === undefined && (await this.#deps.files.size(path)) === undefined) {
      throw new TubeletError('notFound', `there is no ${path}, also after the runtime was asked to reopen it`);
    }
    tracked.growth = growthAfterRotation(growth, clock.monotonic());
    const message = size === undefined ? 'Container log was missing and is reopened' : 'Container log rotated';
    log.debug(4, message, { ...logFields(tracked.log), path, size, limit: limits.maxSize });
    if (!this.#stopped.signal.aborted) this.#compression.begin(tracked.log, toCompress);
  }

  #schedule(tracked: TrackedLog, growth: Growth): void {
    const { id } = tracked.log;
    // The container may have ended, or the agent may be stopping, since the check began.
    if (this.#tracked.get(id) !== tracked) return;
    const { maxSize, monitorIntervalMs } = this.#deps.limits;
    const next = computeNextCheck(growth, maxSize, monitorIntervalMs);
    if (next.kind === 'soon') this.#due.add(id, next.ms);
    else this.#watch(tracked, next.restMs);
  }

  #watch(tracked: TrackedLog, restMs: number): void {
    const { clock, log, watch } = this.#deps;
    const since = clock.monotonic();
    try {
      tracked.unwatch = watch.watch(tracked.log.path, () => {
        tracked.unwatch?.();
        tracked.unwatch = undefined;
        if (this.#tracked.get(tracked.log.id) !== tracked) return;
        this.#due.add(tracked.log.id, Math.max(0, since + restMs - clock.monotonic()));
      });
      this.#watchFailed = false;
    } catch (error) {
      if (this.#watchFailed) return;
      this.#watchFailed = true;
      log.error(error, 'Cannot watch container logs, checking quiet ones at intervals only', {
        ...logFields(tracked.log),
        path: tracked.log.path,
      });
    }
  }

  #failed(tracked: TrackedLog, error: unknown): void {
    const { id, path } = tracked.log;
    if (this.#tracked.get(id) !== tracked) return;
    const { monitorIntervalMs } = this.#deps.limits;
    this.#due.add(id, Math.min(monitorIntervalMs, firstRetryMs * 2 ** tracked.failures));
    tracked.failures++;
    // The first failure may be the container's end, which we have not seen yet; then there is no second.
    const failure = messageOf(error);
    if (tracked.failures < 2 || failure === tracked.lastFailure) return;
    tracked.lastFailure = failure;
    this.#deps.log.error(error, 'Cannot rotate a container log, will try again', { ...logFields(tracked.log), path });
  }
}
