import { existsSync, readFileSync } from 'node:fs';

/** What `support-loop-watch.mjs` writes. */
export interface LateBeat {
  readonly ms: number;
  /** What the main thread worked meanwhile, and for how long it waited for a processor. */
  readonly workedMs: number;
  readonly waitedMs: number;
}

export function lateBeats({ loopFile }: { readonly loopFile: string }): readonly LateBeat[] {
  const lines = existsSync(loopFile) ? readFileSync(loopFile, 'utf8').split('\n') : [];
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LateBeat);
}

export interface Lateness {
  /** The most that was worked between two beats. */
  readonly longestWorkMs: number;
  readonly worst: readonly LateBeat[];
}

export function latenessOf(beats: readonly LateBeat[]): Lateness {
  return {
    longestWorkMs: Math.max(0, ...beats.map(({ workedMs }) => workedMs)),
    worst: beats.toSorted((one, other) => other.ms - one.ms).slice(0, 3),
  };
}

export function latenessText({ longestWorkMs, worst }: Lateness, aimMs: number): string {
  const missed = longestWorkMs > aimMs ? '  MISSED' : '';
  const lines = worst.map(
    ({ ms, workedMs, waitedMs }) =>
      `    ${ms.toFixed(0)} ms late: worked ${workedMs.toFixed(0)}, waited for a processor ${waitedMs.toFixed(0)}`,
  );
  return [`  longest work in one go ${longestWorkMs.toFixed(0)} ms${missed}; the worst pauses:`, ...lines].join('\n');
}
