import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';

/** What `support-machine-watch.mjs` writes: when it came, and how late. */
interface Stall {
  readonly atMs: number;
  readonly ms: number;
}

/** What `support-loop-watch.mjs` writes. */
interface LateBeat extends Stall {
  /** What the main thread worked meanwhile, and for how long it waited for a processor. */
  readonly workedMs: number;
  readonly waitedMs: number;
}

interface Pause extends LateBeat {
  /** For how much of it a program ahead of all others was held up as well, on the processor where that was longest. */
  readonly stalledMs: number;
}

/** Of the clock that is stamped on beats. */
export const beatsNowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Programs that do nothing, one on each processor and ahead of all others: when they are late, nobody could have been in time. */
export class MachineWatch {
  readonly #files: readonly string[];
  readonly #programs: readonly ChildProcess[];

  constructor(folder: string) {
    this.#files = cpus().map((_, cpu) => join(folder, `machine-${cpu}.jsonl`));
    this.#programs = this.#files.map((file, cpu) =>
      spawn(
        'chrt',
        [
          '--fifo',
          '99',
          'taskset',
          '--cpu-list',
          String(cpu),
          'node',
          resolve('bench/support-machine-watch.mjs'),
          file,
        ],
        { stdio: ['pipe', 'ignore', 'inherit'] },
      ),
    );
  }

  /** Of each processor. */
  stalls(): readonly (readonly Stall[])[] {
    for (const { exitCode } of this.#programs) {
      if (exitCode !== null) throw new Error(`the watch over the machine has ended with ${exitCode}: are you root?`);
    }
    return this.#files.map((file) => readLines<Stall>(file));
  }

  close(): void {
    for (const program of this.#programs) program.stdin?.end();
  }
}

export function lateBeats({ loopFile }: { readonly loopFile: string }): readonly LateBeat[] {
  return readLines<LateBeat>(loopFile);
}

export interface Lateness {
  readonly longestMs: number;
  /** The same less what nobody could have been in time for. */
  readonly longestOwnMs: number;
  /** The most that was worked between two beats. */
  readonly longestWorkMs: number;
  readonly worst: readonly Pause[];
}

/** Beats that came between two moments. A loop that nobody watched was not in time: it is not known. */
export function latenessOf(
  beats: readonly LateBeat[],
  stalls: readonly (readonly Stall[])[],
  [fromMs, toMs]: readonly [number, number],
): Lateness {
  const pauses = beats
    .filter(({ atMs }) => atMs > fromMs && atMs <= toMs)
    .map((beat) => ({ ...beat, stalledMs: Math.max(...stalls.map((some) => overlap(beat, some))) }))
    .toSorted((one, other) => other.ms - one.ms);
  if (pauses.length === 0) {
    throw new Error(`nothing is known of the agent's event loop for ${(toMs - fromMs).toFixed(0)} ms: was it watched?`);
  }
  return {
    longestMs: pauses[0]?.ms ?? 0,
    longestOwnMs: Math.max(0, ...pauses.map(({ ms, stalledMs }) => ms - stalledMs)),
    longestWorkMs: Math.max(0, ...pauses.map(({ workedMs }) => workedMs)),
    worst: pauses.slice(0, 3),
  };
}

function overlap(beat: LateBeat, stalls: readonly Stall[]): number {
  return stalls.reduce((sum, { atMs, ms }) => {
    const [from, to] = [Math.max(beat.atMs - beat.ms, atMs - ms), Math.min(beat.atMs, atMs)];
    return sum + Math.max(0, to - from);
  }, 0);
}

export function latenessText({ longestWorkMs, worst }: Lateness): string {
  const lines = worst.map(
    ({ ms, workedMs, waitedMs, stalledMs }) =>
      `    ${ms.toFixed(0)} ms: worked ${workedMs.toFixed(0)}, waited for a processor ${waitedMs.toFixed(0)}; ` +
      `a program that is ahead of all others was held up for ${stalledMs.toFixed(0)} meanwhile`,
  );
  return [`longest work in one go ${longestWorkMs.toFixed(0)} ms; the longest pauses:`, ...lines].join('\n');
}

function readLines<T>(file: string): readonly T[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}
