import type { EventEmitter } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../src/base/system-clock.ts';

type Tell = (problem: string) => void;

const clock = systemClock();
const lookMs = 20;

/** Tells of whatever nobody catches, and of listeners that pile up; the answer ends the watch. */
export function watchProcess(tell: Tell, source: EventEmitter = process): () => void {
  const onError = (error: unknown): void =>
    tell(`nobody caught ${error instanceof Error ? error.stack : String(error)}`);
  const onWarning = (warning: Error): void => {
    if (warning.name === 'MaxListenersExceededWarning') tell(`listeners are left: ${warning.stack}`);
  };
  source.on('unhandledRejection', onError).on('uncaughtException', onError).on('warning', onWarning);
  return () => {
    source.off('unhandledRejection', onError).off('uncaughtException', onError).off('warning', onWarning);
  };
}

/** How long the whole process did one thing alone, in milliseconds. */
export interface Pauses {
  /** Of the processor, in the longest turn; that of a busy machine's other programs does not count. */
  readonly longestTurn: number;
  /** By the clock on the wall, clients and judges with it. */
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

/** Tells when something took too long in one go; the answer ends the watch and has the figures. */
export function watchLoop(tell: Tell, longestTurnMs: number): () => Pauses {
  const delays = monitorEventLoopDelay({ resolution: lookMs });
  delays.enable();
  let [used, longestTurn, cancel] = [process.cpuUsage(), 0, (): void => {}];
  const look = (): void => {
    const { user, system } = process.cpuUsage(used);
    const ms = Math.round((user + system) / 1_000);
    longestTurn = Math.max(longestTurn, ms);
    if (ms > longestTurnMs) tell(`everything stood still for ${ms} ms`);
    used = process.cpuUsage();
    cancel = clock.after(lookMs, look);
  };
  look();
  return () => {
    cancel();
    delays.disable();
    const above = (nanoseconds: number): number => Math.max(0, Math.round(nanoseconds / 1e6 - lookMs));
    const [median, p99, longest] = [delays.percentile(50), delays.percentile(99), delays.max].map(above);
    return { longestTurn, median: median ?? 0, p99: p99 ?? 0, longest: longest ?? 0 };
  };
}

/** Bytes; what is not needed any more has been collected. */
export interface Memory {
  /** Objects and buffers. */
  readonly used: number;
  readonly resident: number;
}

export function memoryNow(): Memory {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { used: heapUsed + external, resident: rss };
}
