import type { Heartbeats } from '../base/heartbeats.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { HealthCheckResults } from './health-checks-results.ts';
import type { HealthFacts, LeftPod, LogControl, MetricsRegistries } from './ports.ts';
import { nodeEngine, Profiler } from './profiling/index.ts';
import { routeTable, type Handlers } from './route-table.ts';
import { configzHandler } from './routes/configz.ts';
import { debugNodeHandler, debugPodHandler, type DebugPages } from './routes/debug.ts';
import { flagzHandler } from './routes/flagz.ts';
import { healthzHandlers } from './routes/healthz.ts';
import { metricsHandler } from './routes/metrics.ts';
import { metricsSlisHandler } from './routes/metrics-slis.ts';
import { profileHandlers } from './routes/profile.ts';
import { statuszHandler } from './routes/statusz.ts';
import { verbosityHandler } from './routes/verbosity.ts';
import type { SelfSettings } from './server-settings.ts';
import { syncLoopProblem } from './sync-loop-problem.ts';

interface SelfPagesDeps {
  readonly heartbeats: Heartbeats;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: LogControl;
  readonly registries: MetricsRegistries;
  /** What was decided, and why. */
  readonly debug: DebugPages;
  readonly settings: SelfSettings;
}

/** Pages that need nothing but the process. */
type FixedHandlers = Pick<
  Handlers,
  | 'metrics'
  | 'metricsProbes'
  | 'metricsSlis'
  | 'configz'
  | 'flagz'
  | 'verbosity'
  | 'debugPod'
  | 'debugNode'
  | 'profileIndex'
  | 'profile'
  | 'heapSnapshot'
>;

type KnowingHandlers = ReturnType<typeof healthzHandlers> & Pick<Handlers, 'statusz'>;

/**
 * The pages on which the agent says how it is itself. Made once, at boot: when it started and how its health checks came
 * out outlive the handlers that are served first.
 */
export class SelfPages {
  readonly fixed: FixedHandlers;
  readonly #deps: SelfPagesDeps;
  readonly #startedAt: { readonly wall: number; readonly monotonic: number };
  readonly #results: HealthCheckResults;

  constructor(deps: SelfPagesDeps) {
    const { clock, random, log, registries, debug, settings } = deps;
    this.#deps = deps;
    this.#startedAt = { wall: clock.now(), monotonic: clock.monotonic() };
    this.#results = new HealthCheckResults(registries.slis);
    this.fixed = {
      metrics: metricsHandler(() => registries.agent.page()),
      metricsProbes: metricsHandler(() => registries.probes.page()),
      metricsSlis: metricsSlisHandler({ render: () => registries.slis.render(), reset: () => this.#results.reset() }),
      configz: configzHandler(settings),
      flagz: flagzHandler({ random, flags: settings.flags }),
      debugPod: debugPodHandler(debug),
      debugNode: debugNodeHandler(debug),
      verbosity: verbosityHandler({ setVerbosity: (level) => log.setVerbosity(level) }),
      ...profileHandlers({
        profiler: new Profiler({ clock, engine: nodeEngine(), program: 'tubelet' }),
        argv: settings.argv,
      }),
    };
  }

  /** Those that say more when more is known. */
  knowing(health: HealthFacts, stuck: () => readonly LeftPod[]): KnowingHandlers {
    const { clock, random, log, heartbeats, settings } = this.#deps;
    const { version, nodeVersion } = settings;
    return {
      ...healthzHandlers({
        problems: {
          log: () => log.problem(),
          syncloop: () => this.#syncLoopProblem(health.lastSyncRound()),
          'device-plugin': () => health.devicePluginProblem(),
        },
        observe: this.#results.observe,
      }),
      statusz: statuszHandler({
        heartbeats,
        clock,
        random,
        startedAt: this.#startedAt,
        version,
        nodeVersion,
        paths: Object.values(routeTable).map(({ path }) => path),
        troubles: () => stuck().map(({ uid, why, since }) => ({ what: `Left of pod ${uid}`, why, since })),
      }),
    };
  }

  #syncLoopProblem(lastRound: number = this.#startedAt.monotonic): string | undefined {
    const { clock, heartbeats, settings } = this.#deps;
    const nowMs = clock.monotonic();
    const hung = heartbeats.hung(nowMs);
    return syncLoopProblem({ nowMs, relistedAtMs: lastRound, syncFrequencyMs: settings.syncPeriodMs, hung });
  }
}
