import { TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { MachineFacts } from '../../model/usage.ts';
import type { UsagePages } from '../../server/index.ts';
import { scrapedUsage, type StatsParts } from '../../stats/index.ts';
import { cadvisorPage, resourcePage } from '../../stats/pages/index.ts';

/** The sources of the usage pages. */
interface UsageSource extends Pick<StatsParts, 'usageForPage'> {
  /** Undefined until the machine has been read. */
  machine(): MachineFacts | undefined;
}

/** The pages of an agent whose runtime has not answered. */
export function noUsageYet(log: Pick<Log, 'error'>): UsageSource {
  const stats = {
    snapshot: async () => {
      throw new TubeletError('unavailable', 'the agent waits for the container runtime');
    },
  };
  return {
    usageForPage: (depth, signal) => scrapedUsage({ stats, log }, depth, signal),
    machine: () => undefined,
  };
}

export function usagePages(source: UsageSource): UsagePages {
  return {
    async *cadvisor(signal) {
      yield* cadvisorPage(await source.usageForPage('everything', signal), source.machine());
    },
    resource: async (signal) => resourcePage(await source.usageForPage('core', signal)),
  };
}
