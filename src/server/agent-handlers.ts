import type { Clock } from '../base/clock.ts';
import { podFullName } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { ContainerState, type ContainerStatus } from '../gen/cri/api.ts';
import { podObject, type DesiredPod } from '../model/desired-pod.ts';
import { usageHandlers } from './boot-handlers.ts';
import type { ContainerLogFiles, LogSources } from './container-logs/index.ts';
import type { JournalRunner, NodeLogFiles } from './node-logs/index.ts';
import type {
  DesiredView,
  HealthFacts,
  ObservedView,
  PodsView,
  ServerRuntime,
  StatsView,
  StatusesView,
  UsagePages,
} from './ports.ts';
import type { Handlers } from './route-table.ts';
import { attachHandler } from './routes/attach.ts';
import { checkpointHandler } from './routes/checkpoint.ts';
import { containerLogsHandler } from './routes/container-logs.ts';
import { execHandler } from './routes/exec.ts';
import { nodeLogsHandler } from './routes/node-logs.ts';
import { podsHandler } from './routes/pods.ts';
import { portForwardHandler } from './routes/port-forward.ts';
import { runHandler } from './routes/run.ts';
import { runningPodsHandler } from './routes/running-pods.ts';
import { specHandler } from './routes/spec.ts';
import { statsSummaryHandler } from './routes/stats-summary.ts';
import type { SelfPages } from './self-pages.ts';
import type { ServerSettings } from './server-settings.ts';
import type { CheckpointFolders, SessionDeps } from './streaming/index.ts';

/** The files that clients may read, or have written. */
export interface ServedFiles {
  readonly containerLogs: ContainerLogFiles;
  readonly nodeLogs: NodeLogFiles;
  readonly journal: JournalRunner;
  readonly checkpoints: CheckpointFolders;
}

/** All that the handlers of the whole agent ask. */
export interface ServedViews {
  readonly pods: PodsView;
  readonly desired: DesiredView;
  readonly statuses: StatusesView;
  readonly observed: ObservedView;
  readonly runtime: ServerRuntime;
  readonly stats: StatsView;
  readonly usagePages: UsagePages;
  readonly health: HealthFacts;
  readonly files: ServedFiles;
}

interface AgentHandlersDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Pick<
    ServerSettings,
    'isStandalone' | 'rootDir' | 'podLogsDir' | 'nodeLogQuery' | 'splitStreams' | 'cpuFrequencyKhz'
  >;
  readonly self: SelfPages;
  readonly views: ServedViews;
}

const nodeLogFolder = '/var/log';

/** What answers each route of the table, on whichever port it is asked. */
export function agentHandlers(deps: AgentHandlersDeps): Handlers {
  const { self, views, settings } = deps;
  const { pods, stats, usagePages, health } = views;
  const { isStandalone, cpuFrequencyKhz } = settings;
  return {
    ...self.fixed,
    ...self.knowing(health, () => pods.stuck()),
    ...usageHandlers(usagePages),
    ...sessionHandlers(deps),
    ...logHandlers(deps),
    pods: podsHandler({ pods: () => pods.pods(), isStandalone }),
    runningPods: runningPodsHandler({ observed: () => pods.seen() }),
    spec: specHandler({ machine: async () => stats.machine(), cpuFrequencyKhz }),
    statsSummary: statsSummaryHandler(stats),
  };
}

type SessionHandlers = Pick<
  Handlers,
  'exec' | 'execUid' | 'attach' | 'attachUid' | 'portForward' | 'portForwardUid' | 'run' | 'runUid' | 'checkpoint'
>;

function sessionHandlers({ clock, log, settings, views }: AgentHandlersDeps): SessionHandlers {
  const { desired, observed, runtime, files } = views;
  const session: SessionDeps = {
    log,
    runtime,
    pods: {
      pod: (namespace, name) => newestNamed(desired, namespace, name),
      observed: (uid, signal) => observed.newerThan(uid, 0, signal),
      inspect: (uid, signal) => observed.inspect(uid, signal),
    },
  };
  const exec = execHandler(session);
  const attach = attachHandler(session);
  const portForward = portForwardHandler(session);
  const run = runHandler(session);
  return {
    exec,
    execUid: exec,
    attach,
    attachUid: attach,
    portForward,
    portForwardUid: portForward,
    run,
    runUid: run,
    checkpoint: checkpointHandler({ ...session, clock, rootDir: settings.rootDir, folders: files.checkpoints }),
  };
}

type LogHandlers = Pick<Handlers, 'containerLogs' | 'nodeLogs' | 'nodeLogFiles'>;

function logHandlers({ clock, log, settings, views }: AgentHandlersDeps): LogHandlers {
  const { files } = views;
  const { podLogsDir, nodeLogQuery, splitStreams } = settings;
  const nodeLogs = nodeLogsHandler({
    clock,
    files: files.nodeLogs,
    journal: files.journal,
    root: nodeLogFolder,
    alsoBelow: [podLogsDir],
    query: nodeLogQuery,
  });
  return {
    containerLogs: containerLogsHandler({
      clock,
      log,
      files: files.containerLogs,
      sources: logSources(views),
      splitStreams,
    }),
    nodeLogs,
    nodeLogFiles: nodeLogs,
  };
}

function logSources({ desired, statuses, runtime }: ServedViews): LogSources {
  const ask = async (containerId: string, signal: AbortSignal): Promise<ContainerStatus | undefined> =>
    (await runtime.containerStatus({ containerId, verbose: false }, { signal })).status;
  return {
    pod: (namespace, name) => {
      const pod = newestNamed(desired, namespace, name);
      return pod && { pod: podObject(pod, statuses.get(pod.uid)) };
    },
    logPath: async (id, signal) => (await ask(id, signal))?.logPath ?? '',
    isRunning: async (id, signal) => (await ask(id, signal))?.state === ContainerState.CONTAINER_RUNNING,
  };
}

/** Two pods have one name while a changed static pod waits for the one before it to end. */
function newestNamed(desired: DesiredView, namespace: string, name: string): DesiredPod | undefined {
  return desired.named(podFullName(name, namespace)).at(-1);
}
