import { healthPage, type HealthCheck } from '../health-checks.ts';
import type { Route } from '../route.ts';

/** `/healthz` with all checks, and one page below it for each. */
export function healthzRoutes(checks: readonly HealthCheck[]): readonly Route[] {
  const route = (path: string, shown: readonly HealthCheck[]): Route => ({
    path,
    methods: ['GET', 'HEAD'],
    listeners: ['healthz', 'readOnly'],
    handle: async ({ query }) => healthPage(shown, { verbose: query.has('verbose'), exclude: query.getAll('exclude') }),
  });
  return [route('/healthz', checks), ...checks.map((check) => route(`/healthz/${check.name}`, [check]))];
}
