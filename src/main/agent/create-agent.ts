import type { Component } from '../../base/component.ts';
import type { Settings } from '../../config/index.ts';
import type { NodeEvents } from '../../node/index.ts';
import type { PodViews } from '../../pods/create-pods.ts';
import { createPodStores, type PodStoreViews } from '../../pods/create-stores.ts';
import type { AgentApi } from './agent-api.ts';
import type { BootFacts } from './boot.ts';
import { createAgentNode } from './create-agent-node.ts';
import { createAgentObjects } from './create-agent-objects.ts';
import { createAgentPods } from './create-agent-pods.ts';
import { createAgentReports } from './create-agent-reports.ts';
import { createAgentShutdown } from './create-agent-shutdown.ts';
import { createAgentStorage } from './create-agent-storage.ts';
import { createContext } from './create-context.ts';
import type { Platform } from './platform.ts';
import { configuredSources } from './settings/pod-settings.ts';
import type { AgentSignals } from './signals.ts';
import { statusEntries } from './status-checkpoint.ts';

export interface Agent {
  /** In the order in which they start. */
  readonly components: readonly Component[];
  readonly views: AgentViews;
}

/** What the program and its tests may inspect. */
export interface AgentViews {
  readonly pods: PodViews;
  readonly stores: PodStoreViews;
  readonly signals: AgentSignals;
  readonly nodeEvents: NodeEvents;
  readonly api: AgentApi | undefined;
}

/** Composes the agent from what boot awaited: no I/O, each part after those it needs. */
export function createAgent(settings: Settings, platform: Platform, facts: BootFacts, signal: AbortSignal): Agent {
  const { ports, signals, host, cri } = facts;
  const context = createContext(settings, facts);
  const { api, nodeEvents } = context;
  const stores = createPodStores({
    ports,
    signals,
    paths: context.paths,
    events: context.events,
    runtime: cri,
    files: host.pods.files,
    terminationMessages: host.pods.terminationMessages,
    sources: configuredSources(settings),
    shuttingDown: () => signals.node.shutdown.isSet(),
  });
  stores.statuses.restore(statusEntries(facts.statuses));
  const node = createAgentNode(context);
  const objects = createAgentObjects(context, signal);
  const storage = createAgentStorage(context, { platform, stores, node, objects });
  const pods = createAgentPods(context, { stores, node, objects, storage });
  const reports = createAgentReports(context, { stores, node, storage, pods });
  const shutdown = createAgentShutdown(context, { stores, pods });

  const { node: nodeMirror, services, runtimeClasses, drivers } = api?.mirrors ?? {};
  return {
    components: [
      api?.recorder,
      ...facts.setup.components,
      ...node.views.early,
      ...reports.node.early,
      ...reports.stats.components,
      ...reports.server.components,
      ...pods.cgroups.components,
      pods.checkpoint,
      ...storage.images.components,
      ...storage.volumes.components,
      ...pods.pods.components,
      ...reports.eviction.components,
      ...shutdown.components,
      ...pods.sources,
      ...objects.components,
      services,
      runtimeClasses,
      drivers,
      nodeMirror,
      ...(pods.apiPods?.components ?? []),
      ...node.views.late,
      ...reports.node.late,
      pods.apiPods?.staticPods,
      ...storage.drivers.components,
      ...storage.plugins.components,
    ].filter((component) => component !== undefined),
    views: { pods: pods.pods.views, stores, signals, nodeEvents, api },
  };
}
