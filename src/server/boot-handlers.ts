import { TubeletError } from '../base/errors.ts';
import type { Handler } from './route.ts';
import { routeTable, type Handlers, type RouteId } from './route-table.ts';
import type { HealthFacts, UsagePages } from './ports.ts';
import { metricsHandler, streamedMetricsHandler } from './routes/metrics.ts';
import { podsHandler } from './routes/pods.ts';
import type { SelfPages } from './self-pages.ts';

interface BootHandlersDeps {
  readonly self: SelfPages;
  /** Of an agent that cannot know yet what its pods use. */
  readonly usagePages: UsagePages;
  readonly isStandalone: boolean;
}

const nothingYet: HealthFacts = { lastSyncRound: () => undefined, devicePluginProblem: () => undefined };

const waiting: Handler = async () => {
  throw new TubeletError('unavailable', 'the agent waits for the container runtime');
};

/** What an agent answers that has no pods yet: how it is itself, no pods, and a failure for all that takes pods. */
export function bootHandlers({ self, usagePages, isStandalone }: BootHandlersDeps): Handlers {
  const ids = Object.keys(routeTable) as RouteId[];
  const others = Object.fromEntries(ids.map((id) => [id, waiting])) as Handlers;
  return {
    ...others,
    ...self.fixed,
    ...self.knowing(nothingYet, () => []),
    ...usageHandlers(usagePages),
    pods: podsHandler({ pods: () => [], isStandalone }),
  };
}

export function usageHandlers(pages: UsagePages): Pick<Handlers, 'metricsCadvisor' | 'metricsResource'> {
  return {
    metricsCadvisor: streamedMetricsHandler((signal) => pages.cadvisor(signal)),
    metricsResource: metricsHandler((signal) => pages.resource(signal)),
  };
}
