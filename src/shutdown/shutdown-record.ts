import type { Clock } from '../base/clock.ts';
import { isKind } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Gauge, Metrics } from '../base/metrics.ts';
import type { ShutdownFiles } from './ports.ts';
import { formatTimes, metricSeconds, parseTimes, type ShutdownTimes } from './state-text.ts';

interface ShutdownRecordDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly files: Pick<ShutdownFiles, 'read' | 'replace'>;
  readonly path: string;
}

const fileMode = 0o644;
const maxBytes = 4_096;

/** When the last shutdown began and ended, in a file and two metrics: after the next start they show the one before. */
export class ShutdownRecord {
  readonly #deps: ShutdownRecordDeps;
  readonly #start: Gauge;
  readonly #end: Gauge;
  #times: ShutdownTimes = {};

  constructor(deps: ShutdownRecordDeps) {
    this.#deps = deps;
    const gauge = (which: 'start' | 'end'): Gauge =>
      deps.metrics.gauge({
        name: `kubelet_graceful_shutdown_${which}_time_seconds`,
        help: `When the last graceful shutdown of the node ${which === 'start' ? 'began' : 'ended'}, in seconds since 1970; 0 for never.`,
        stability: 'ALPHA',
      });
    [this.#start, this.#end] = [gauge('start'), gauge('end')];
    this.#show();
  }

  async load(): Promise<void> {
    const { files, path, log } = this.#deps;
    try {
      const times = parseTimes(await files.read(path, maxBytes));
      if (times === undefined) log.warn('The record of the last shutdown cannot be understood', { path });
      else this.#times = times;
      this.#show();
    } catch (error) {
      if (!isKind(error, 'notFound')) log.error(error, 'Cannot read the record of the last shutdown', { path });
    }
  }

  async began(): Promise<void> {
    await this.#replace({ startMs: this.#deps.clock.now() });
  }

  async ended(): Promise<void> {
    await this.#replace({ ...this.#times, endMs: this.#deps.clock.now() });
  }

  async #replace(times: ShutdownTimes): Promise<void> {
    const { files, path, log } = this.#deps;
    this.#times = times;
    this.#show();
    try {
      await files.replace(path, formatTimes(times), fileMode);
    } catch (error) {
      log.error(error, 'Cannot write the record of the shutdown', { path });
    }
  }

  #show(): void {
    this.#start.set(metricSeconds(this.#times.startMs));
    this.#end.set(metricSeconds(this.#times.endMs));
  }
}
