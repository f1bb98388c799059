import { isKind } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { UsageSnapshot } from '../model/usage.ts';
import type { UsageDepth } from './ports.ts';
import type { Stats } from './stats.ts';

/**
 * The usage for a metrics page; undefined when it could not be read, which the page then says by itself. An aborted
 * request, or one at the agent's end, gets no page at all.
 */
export async function scrapedUsage(
  { stats, log }: { readonly stats: Pick<Stats, 'snapshot'>; readonly log: Pick<Log, 'error'> },
  depth: UsageDepth,
  signal: AbortSignal,
): Promise<UsageSnapshot | undefined> {
  try {
    return await stats.snapshot(signal, depth);
  } catch (error) {
    signal.throwIfAborted();
    if (isKind(error, 'cancelled')) throw error;
    log.error(error, 'The usage of pods cannot be reported');
    return undefined;
  }
}
