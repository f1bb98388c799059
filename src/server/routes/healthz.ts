import { healthPage, singleCheckPage, type HealthCheck, type ObserveCheck } from '../health-checks.ts';
import type { Handler } from '../route.ts';
import type { Handlers } from '../route-table.ts';

/** Each returns the problem, or undefined. */
export type HealthProblems = Readonly<Record<'log' | 'syncloop' | 'device-plugin', () => string | undefined>>;

interface HealthzDeps {
  readonly problems: HealthProblems;
  /** Called with the result of each check of the page with all of them. */
  readonly observe: ObserveCheck;
}

type HealthzHandlers = Pick<
  Handlers,
  'healthz' | 'healthzPing' | 'healthzLog' | 'healthzSyncloop' | 'healthzDevicePlugin'
>;

/** The process answers, so it is alive. */
const ping: HealthCheck = { name: 'ping', check: () => undefined };

/** `/healthz` with all checks, and one page below it for each. */
export function healthzHandlers({ problems, observe }: HealthzDeps): HealthzHandlers {
  const check = (name: keyof HealthProblems): HealthCheck => ({ name, check: problems[name] });
  const all = [ping, check('log'), check('syncloop'), check('device-plugin')];
  return {
    healthz: async ({ listener, query }) =>
      // Its own listener is for supervisors that restart an agent that does not answer, and says no more than that it does.
      healthPage(
        listener === 'healthz' ? [ping] : all,
        { verbose: query.has('verbose'), exclude: query.getAll('exclude') },
        observe,
      ),
    healthzPing: single(ping),
    healthzLog: single(check('log')),
    healthzSyncloop: single(check('syncloop')),
    healthzDevicePlugin: single(check('device-plugin')),
  };
}

function single(check: HealthCheck): Handler {
  return async ({ listener }) => singleCheckPage(check, listener === 'secure');
}
