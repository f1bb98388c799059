import type { Clock } from '../base/clock.ts';
import { TubeletError } from '../base/errors.ts';

interface RoundsDeps<T> {
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
  /** Reads what must be removed now. */
  readonly observe: () => Promise<readonly T[]>;
  /** Tries to remove all of it, and answers what failed; the next observation decides whether that still matters. */
  readonly carryOut: (plan: readonly T[]) => Promise<readonly string[]>;
  readonly describe: (removal: T) => string;
}

/** Killed processes hold their cgroups until they are reaped, which takes some init programs seconds. */
const stuckMs = 30_000;
/** A program that keeps making new things must not keep the removal running for ever. */
const maxMs = 10 * stuckMs;
const pauseMs = 100;

/**
 * Removes what is observed until nothing is left; answers whether there was anything. A slow machine with much to
 * remove is given time: the timeout applies to an unchanged plan, and starts after its first try.
 */
export async function removalRounds<T>({ clock, observe, carryOut, describe }: RoundsDeps<T>): Promise<boolean> {
  const end = clock.monotonic() + maxMs;
  let last = { plan: '', faults: [] as readonly string[], untilMs: end };
  for (;;) {
    const plan = await observe();
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
    last = { plan: text, faults, untilMs: isNew ? clock.monotonic() + stuckMs : last.untilMs };
    // An object that the kernel is still removing, such as an interface, vanishes a moment later.
    if (faults.length > 0) await clock.sleep(pauseMs);
  }
}
