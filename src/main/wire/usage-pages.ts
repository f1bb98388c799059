import { TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { MachineFacts } from '../../model/usage.ts';
import type { UsagePages } from '../../server/index.ts';
import type { Stats } from '../../stats/index.ts';
import { cadvisorPage, resourcePage } from '../../stats/pages/index.ts';
import { scrapedUsage } from './scraped-usage.ts';

/** What the pages of figures are made of. */
export interface UsageSource {
  readonly snapshot: Stats['snapshot'];
  /** Nothing before the machine was read. */
  machine(): MachineFacts | undefined;
}

/** Of an agent whose runtime has not answered. */
export const noUsageYet: UsageSource = {
  snapshot: async () => {
    throw new TubeletError('unavailable', 'the agent waits for the container runtime');
  },
  machine: () => undefined,
};

export function usagePages(source: UsageSource, log: Pick<Log, 'error'>): UsagePages {
  const usage = { stats: () => source, log };
  return {
    async *cadvisor(signal) {
      yield* cadvisorPage(await scrapedUsage(usage, 'everything', signal), source.machine());
    },
    resource: async (signal) => resourcePage(await scrapedUsage(usage, 'core', signal)),
  };
}
