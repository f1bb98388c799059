import { cpus } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import { TubeletError } from '../../base/errors.ts';
import { podFullName } from '../../base/ids.ts';
import type { Random } from '../../base/random.ts';
import { toFlagz, type Settings } from '../../config/index.ts';
import type { Cri } from '../../cri/index.ts';
import { ContainerState, type ContainerStatus } from '../../gen/cri/api.ts';
import { hostFiles, hostLogFiles, journalRunner, nodeLogsOn, type ForeignStorage } from '../../host/index.ts';
import { podObject } from '../../model/desired-pod.ts';
import {
  attachHandler,
  checkpointHandler,
  configzHandler,
  containerLogsHandler,
  execHandler,
  flagzHandler,
  HealthCheckResults,
  healthzHandlers,
  metricsHandler,
  metricsSlisHandler,
  nodeLogsHandler,
  podsHandler,
  portForwardHandler,
  profileHandlers,
  routeTable,
  runHandler,
  runningPodsHandler,
  specHandler,
  statsSummaryHandler,
  statuszHandler,
  streamedMetricsHandler,
  verbosityHandler,
  type Handlers,
} from '../../server/index.ts';
import type { LogSources } from '../../server/container-logs/index.ts';
import { nodeEngine, Profiler } from '../../server/profiling/index.ts';
import type { StreamingPods } from '../../server/streaming/index.ts';
import { scrapedUsage, type StatsParts } from '../../stats/index.ts';
import { cadvisorPage, resourcePage } from '../../stats/pages/index.ts';
import type { LogSink, Registry } from '../../telemetry/index.ts';
import type { PodMachine } from './pod-machine.ts';
import { shownConfiguration } from './shown-configuration.ts';

/** What there is to show once the runtime has answered. */
export interface ServedParts {
  readonly machine: PodMachine;
  readonly stats: StatsParts;
  readonly storage: ForeignStorage;
}

export interface ServerHandlersDeps {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: LogSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cri: Cri;
  /** Pages of figures: the agent's own, those of probes, those of health checks. */
  readonly pages: { readonly agent: Registry; readonly probes: Registry; readonly slis: Registry };
  readonly parts: () => ServedParts | undefined;
}

/** The agent counts as stuck when its loop has not come round for this long at least. */
const leastStuckMs = 5 * 60_000;
const nodeLogFolder = '/var/log';

/** What answers each route of the table, on whichever port it is asked. */
export function serverHandlers(deps: ServerHandlersDeps): Handlers {
  const { settings, clock, random, log, env, cri, pages } = deps;
  const startedAt = { wall: clock.now(), monotonic: clock.monotonic() };
  const results = new HealthCheckResults(pages.slis);
  const parts = (): ServedParts => {
    const known = deps.parts();
    if (known === undefined) throw new TubeletError('unavailable', 'the agent waits for the container runtime');
    return known;
  };
  const pods = (): ReturnType<PodMachine['pods']> => deps.parts()?.machine.pods() ?? [];
  const stats = (): StatsParts['stats'] => parts().stats.stats;
  const usage = {
    stats: { snapshot: (...asked: Parameters<StatsParts['stats']['snapshot']>) => stats().snapshot(...asked) },
    log,
  };
  const session = { log, runtime: cri, pods: streamingPods(parts) };
  const sessions = {
    exec: execHandler(session),
    attach: attachHandler(session),
    portForward: portForwardHandler(session),
    run: runHandler(session),
  };
  let opener: ReturnType<typeof nodeLogsOn> | undefined;
  const openLog = (): ReturnType<typeof nodeLogsOn> => (opener ??= nodeLogsOn(parts().storage));
  const nodeLogs = nodeLogsHandler({
    clock,
    files: { open: (path, folders) => openLog()(path, folders) },
    journal: journalRunner({ environment: env }),
    root: nodeLogFolder,
    alsoBelow: [settings.config.podLogsDir],
    query: settings.config.enableSystemLogQuery && settings.featureGates.enabled('NodeLogQuery'),
  });
  return {
    ...healthzHandlers({
      problems: {
        log: () => log.problem(),
        syncloop: () => stuckFor(settings, clock, deps.parts()?.machine.pleg.lastRelist() ?? startedAt.monotonic),
        // Nobody can be asked for devices here.
        'device-plugin': () => undefined,
      },
      observe: results.observe,
    }),
    pods: podsHandler({
      pods,
      // Every user of the machine gets to the plain port. In a cluster it is as upstream has it.
      hidesValues: (listener) => listener === 'readOnly' && settings.flags.kubeconfig === '',
    }),
    runningPods: runningPodsHandler({ observed: () => parts().machine.seen() }),
    spec: specHandler({ machine: async () => stats().machine(), ...cpuFrequency() }),
    statsSummary: statsSummaryHandler({ summary: (options, signal) => stats().summary(options, signal) }),
    metrics: metricsHandler(() => pages.agent.page()),
    metricsProbes: metricsHandler(() => pages.probes.page()),
    metricsSlis: metricsSlisHandler({ render: () => pages.slis.render(), reset: () => results.reset() }),
    metricsCadvisor: streamedMetricsHandler(async function* (signal) {
      yield* cadvisorPage(await scrapedUsage(usage, 'everything', signal), deps.parts()?.stats.stats.machine());
    }),
    metricsResource: metricsHandler(async (signal) => resourcePage(await scrapedUsage(usage, 'core', signal))),
    ...sessions,
    execUid: sessions.exec,
    attachUid: sessions.attach,
    portForwardUid: sessions.portForward,
    runUid: sessions.run,
    checkpoint: checkpointHandler({ ...session, clock, rootDir: settings.flags.rootDir, folders: hostFiles }),
    containerLogs: containerLogsHandler({
      clock,
      log,
      files: hostLogFiles,
      sources: logSources(parts, cri),
      splitStreams: settings.featureGates.enabled('PodLogsQuerySplitStreams'),
    }),
    nodeLogs,
    nodeLogFiles: nodeLogs,
    configz: configzHandler({ kubeletconfig: shownConfiguration(settings) }),
    flagz: flagzHandler({ random, flags: toFlagz(settings) }),
    statusz: statuszHandler({
      clock,
      random,
      startedAt,
      version: settings.version,
      nodeVersion: process.version,
      paths: Object.values(routeTable).map(({ path }) => path),
      troubles: () =>
        (deps.parts()?.machine.stuck() ?? []).map(({ uid, why, since }) => ({
          what: `Left of pod ${uid}`,
          why,
          since,
        })),
    }),
    verbosity: verbosityHandler({ setVerbosity: (level) => log.setVerbosity(level) }),
    ...profileHandlers({
      profiler: new Profiler({ clock, engine: nodeEngine(), program: 'tubelet' }),
      argv: process.argv,
    }),
  };
}

function stuckFor({ config }: Settings, clock: Clock, lastRound: number): string | undefined {
  const idleMs = clock.monotonic() - lastRound;
  const isStuck = idleMs > Math.max(2 * config.syncFrequency.toMillis(), leastStuckMs);
  return isStuck ? `no round for ${Math.round(idleMs / 1_000)} s` : undefined;
}

function streamingPods(parts: () => ServedParts): StreamingPods {
  return {
    pod: (namespace, name) => parts().machine.desired.named(podFullName(name, namespace)).at(-1),
    observed: (uid, signal) => parts().machine.observed.newerThan(uid, 0, signal),
    look: (uid, signal) => parts().machine.observed.look(uid, signal),
  };
}

function logSources(parts: () => ServedParts, cri: Pick<Cri, 'containerStatus'>): LogSources {
  const ask = async (containerId: string, signal: AbortSignal): Promise<ContainerStatus | undefined> =>
    (await cri.containerStatus({ containerId, verbose: false }, { signal })).status;
  return {
    pod: (namespace, name) => {
      const { desired, statuses } = parts().machine;
      const pod = desired.named(podFullName(name, namespace)).at(-1);
      return pod && { pod: podObject(pod, statuses.get(pod.uid)) };
    },
    logPath: async (id, signal) => (await ask(id, signal))?.logPath ?? '',
    isRunning: async (id, signal) => (await ask(id, signal))?.state === ContainerState.CONTAINER_RUNNING,
  };
}

function cpuFrequency(): { readonly cpuFrequencyKhz?: number } {
  const megahertz = cpus()[0]?.speed ?? 0;
  return megahertz > 0 ? { cpuFrequencyKhz: megahertz * 1_000 } : {};
}
