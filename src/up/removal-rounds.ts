import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';

interface RoundsDeps<T> {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** What there is to be removed, now. */
  readonly look: () => Promise<readonly T[]>;
  /** Tries it all, and answers what failed; the next look decides whether that still matters. */
  readonly carryOut: (plan: readonly T[]) => Promise<readonly string[]>;
  readonly describe: (removal: T) => string;
}

/** Killed processes hold their cgroups until someone has reaped them, which takes some init programs seconds. */
const patienceMs = 30_000;
/** Whoever keeps making new things must not keep this going for ever. */
const longestMs = 10 * patienceMs;
const pauseMs = 100;

/**
 * Removes what is seen until nothing is left; answers whether there was anything. A slow machine with much to remove gets
 * there: patience is for what does not move, and begins when it has been tried.
 */
export async function removalRounds<T>({ clock, look, carryOut, describe }: RoundsDeps<T>): Promise<boolean> {
  const end = clock.monotonic() + longestMs;
  let last = { plan: '', faults: [] as readonly string[], untilMs: end };
  for (;;) {
    const plan = await look();
    if (plan.length === 0) return last.plan !== '';
    const described = plan.map(describe);
    const text = described.join('\n');
    const isNew = text !== last.plan;
    const nowMs = clock.monotonic();
    if (nowMs >= end || (!isNew && nowMs >= last.untilMs)) {
      const what = last.faults.length > 0 ? last.faults : described;
      throw new TubeletError('internal', `could not remove ${what.slice(0, 5).join('; ')}`);
    }
    const faults = await carryOut(plan);
    last = { plan: text, faults, untilMs: isNew ? clock.monotonic() + patienceMs : last.untilMs };
    // What the kernel is still busy with, such as an interface on its way out, is gone a moment later.
    if (faults.length > 0) await clock.sleep(pauseMs);
  }
}
