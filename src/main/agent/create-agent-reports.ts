import type { Component } from '../../base/component.ts';
import { createEviction } from '../../eviction/create-eviction.ts';
import { createNode, type NodeParts } from '../../node/create-node.ts';
import type { PodStores } from '../../pods/create-stores.ts';
import { createStats, type StatsParts } from '../../stats/create-stats.ts';
import type { AgentNode } from './create-agent-node.ts';
import type { AgentPods } from './create-agent-pods.ts';
import { createAgentServer } from './create-agent-server.ts';
import type { AgentStorage } from './create-agent-storage.ts';
import type { AgentContext } from './create-context.ts';
import { driverStats } from './driver-stats.ts';
import { nodeSettings } from './settings/node-settings.ts';
import { statsSettings } from './settings/stats-settings.ts';

interface AgentReports {
  readonly node: NodeParts;
  readonly stats: StatsParts;
  readonly eviction: { readonly components: readonly Component[] };
  readonly server: { readonly components: readonly Component[] };
}

interface ReportParts {
  readonly stores: PodStores;
  readonly node: AgentNode;
  readonly storage: AgentStorage;
  readonly pods: AgentPods;
}

/** The node's status, usage, eviction, and the server that shows all this. */
export function createAgentReports(context: AgentContext, parts: ReportParts): AgentReports {
  const { settings, facts, runtime, api, events } = context;
  const { stores, storage } = parts;
  const { pods, cgroups } = parts.pods;
  const { views } = parts.node;
  const { ports, signals, host, cri, nodeName, lastRun } = facts;
  const { machine, kernel } = host;
  const { volumes } = storage;
  const node = createNode({
    ports,
    settings: nodeSettings(settings, { nodeName, architecture: kernel.architecture }),
    signals: signals.node,
    views,
    host: host.node,
    runtime: cri,
    events: context.nodeEvents,
    startFacts: {
      cgroupVersion: machine.cgroupVersion,
      ...facts.prepared,
      lastRun: lastRun?.kind === 'stopped' ? undefined : lastRun,
    },
    resolver: {
      path: settings.config.resolvConf,
      clusterDomain: settings.config.clusterDomain,
      read: () => host.pods.dns(),
    },
    programStart: host.programStart,
    pleg: pods.views.pleg,
    volumes: { volumesInUse: () => volumes.inUse.names() },
    formerDevices: facts.formerDevices,
    cluster: context.cluster,
  });
  const stats = createStats({
    ports,
    settings: statsSettings(settings, runtime),
    podRemoval: signals.podRemoval,
    host: host.stats,
    runtime: cri,
    agentCgroup: cgroups.agentCgroup,
    pods: {
      seen: () => pods.views.observed(),
      desired: (uid) => stores.desired.get(uid),
      startTime: (uid) => stores.statuses.get(uid)?.startTime,
    },
    volumes: volumes.volumes,
    drivers: driverStats(settings, ports, {
      drivers: storage.drivers.drivers,
      volumes: volumes.volumes,
      stores,
      events,
    }),
    page: facts.registries.agent,
  });
  const eviction = createEviction({
    ports,
    settings: { localStorageCapacityIsolation: settings.config.localStorageCapacityIsolation ?? false },
    podRemoval: signals.podRemoval,
    pods: stores.activePods,
    workers: pods.views,
    meter: stats.stats,
    events,
  });
  const server = createAgentServer(settings, facts, { api, view: views.view, stores, pods: pods.views, stats });
  return { node, stats, eviction, server };
}
