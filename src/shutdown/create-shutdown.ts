import { Broadcaster } from '../base/broadcaster.ts';
import type { Component } from '../base/component.ts';
import type { PodUid } from '../base/ids.ts';
import type { CommonPorts } from '../model/common-ports.ts';
import type { Logind } from '../model/logind.ts';
import { computeGroups, neededSeconds, type ShutdownPeriods } from './compute-groups.ts';
import { FinalFlush } from './final-flush.ts';
import { NodeShutdown, type ShutdownProgress } from './node-shutdown.ts';
import { PodEnding } from './pod-ending.ts';
import type { NodeEvents, ShutdownFiles, ShutdownFlag, ShutdownPods, ApiServerFlush } from './ports.ts';
import { ShutdownInhibitor } from './shutdown-inhibitor.ts';
import { ShutdownRecord } from './shutdown-record.ts';
import { ShutdownRequests } from './shutdown-requests.ts';

export interface ShutdownSettings {
  /** Undefined where the feature is off. */
  readonly periods: ShutdownPeriods | undefined;
  readonly rootDir: string;
}

interface ShutdownDeps {
  readonly ports: CommonPorts;
  readonly settings: ShutdownSettings;
  readonly logind: Logind | undefined;
  readonly files: ShutdownFiles;
  readonly bootId: () => Promise<string>;
  readonly pods: ShutdownPods;
  readonly lifecycleChanged: Broadcaster<PodUid>;
  readonly flag: ShutdownFlag;
  readonly statusDue: { mark(): void };
  readonly events: NodeEvents;
  /** Undefined on a node without an API server. */
  readonly apiServer: ApiServerFlush | undefined;
}

interface Shutdown {
  /** Started before pods are admitted: a shutdown that is under way goes on. */
  readonly components: readonly Component[];
}

/** The graceful shutdown of the node. Without periods in the configuration the machine is not held up, and no pod is ended. */
export function createShutdown(deps: ShutdownDeps): Shutdown {
  const { ports, settings, logind, files, bootId, pods, lifecycleChanged, events, ...node } = deps;
  const { rootDir, periods } = settings;
  const record = new ShutdownRecord({ ...ports, files, path: `${rootDir}/graceful_node_shutdown_state` });
  const groups = periods === undefined ? [] : computeGroups(periods);
  if (groups.length === 0) return { components: [] };

  const progress = new Broadcaster<ShutdownProgress>();
  const letGo = new Broadcaster<void>();
  const ending = new PodEnding({ ...ports, pods });
  lifecycleChanged.listen(() => ending.lifecycleChanged());
  const shutdown = new NodeShutdown({
    ...ports,
    ...node,
    groups,
    pods,
    events,
    record,
    ending,
    finalFlush: new FinalFlush({ ...ports, pods, apiServer: deps.apiServer }),
    onProgress: (news) => progress.broadcast(news),
    onLetGo: () => letGo.broadcast(),
  });
  const inhibitor = new ShutdownInhibitor({
    ...ports,
    logind,
    files,
    events,
    neededSeconds: neededSeconds(groups),
    onShutdown: (active) => shutdown.handle({ type: active ? 'wanted' : 'calledOff', by: 'logind' }),
  });
  const requests = new ShutdownRequests({
    ...ports,
    files,
    rootDir,
    bootId,
    plan: () => shutdown.plan(),
    complete: () => pods.complete(),
    onShutdown: (wanted) => shutdown.handle({ type: wanted ? 'wanted' : 'calledOff', by: 'request' }),
  });
  letGo.listen(() => inhibitor.release());
  progress.listen((news) => requests.progressed(news));
  return { components: [shutdown, requests, inhibitor] };
}
