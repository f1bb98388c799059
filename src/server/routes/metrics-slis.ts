import { text, type Handler } from '../route.ts';
import { metricsHandler } from './metrics.ts';

interface MetricsSlisDeps {
  render(): string;
  /** Forgets how health checks came out. */
  reset(): void;
}

/** `/metrics/slis`: how health checks came out; DELETE begins anew. */
export function metricsSlisHandler(deps: MetricsSlisDeps): Handler {
  const show = metricsHandler(() => deps.render());
  return async (request) => {
    if (request.method !== 'DELETE') return show(request);
    deps.reset();
    return text(200, 'metrics reset\n');
  };
}
