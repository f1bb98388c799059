import type { HungLoop, LoopBeat, LoopStage } from '../../base/heartbeats.ts';
import type { PageLine } from './people-page.ts';

/** Objects of pods have loops of their own, so there may be any number. */
const maxLines = 200;

const words: Readonly<Record<LoopStage, string>> = {
  round: 'busy',
  waiting: 'waiting',
  backOff: 'waiting after a failure',
};

/** The loops as people read them, those in trouble first and the workers of pods last. `wallOf` turns monotonic time into wall time. */
export function loopLines(
  beats: readonly LoopBeat[],
  hung: readonly HungLoop[],
  wallOf: (monotonicMs: number) => number,
): readonly PageLine[] {
  const hanging = new Set(hung.map(({ loop }) => loop));
  const rank = ({ name, failures, maxStepMs: longestStepMs }: LoopBeat): number =>
    hanging.has(name) ? 0 : failures > 0 ? 1 : Number.isFinite(longestStepMs) ? 2 : 3;
  const sorted = beats.toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const lines = sorted.slice(0, maxLines).map(({ name, stage, since, lastBeat, failures }): PageLine => {
    const isHung = hanging.has(name) && stage === 'round';
    const at = new Date(wallOf(isHung ? lastBeat : since)).toUTCString();
    const failed = failures === 0 ? '' : `, ${failures} ${failures === 1 ? 'failure' : 'failures in a row'}`;
    return [`Loop ${name}`, `${isHung ? 'hung' : words[stage]} since ${at}${failed}`];
  });
  const left = sorted.length - lines.length;
  return left === 0 ? lines : [...lines, ['Loops not shown', String(left)]];
}
