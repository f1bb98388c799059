import type { CommonPorts } from '../model/common-ports.ts';
import type { Component } from '../base/component.ts';
import type { NodeViews } from './create-node-view.ts';
import type { FormerDevices } from './former-devices.ts';
import { NodeLease } from './lease/index.ts';
import { leaseNode } from './lease/lease-node.ts';
import { LoneNode } from './lone-node.ts';
import { nodeConditions } from './node-conditions.ts';
import { nodeDiff } from './node-diff.ts';
import type { NodeSignals } from './node-signals.ts';
import { NodeStartup, type ProgramStart } from './node-startup.ts';
import { OwnNode } from './own-node.ts';
import { PodCidr } from './pod-cidr/pod-cidr.ts';
import type { NodeCluster, NodeEvents, NodeHost, RuntimeNetwork, RuntimeReader } from './ports.ts';
import { RegisterNode } from './register/register-node.ts';
import { ResolvConfCheck, type HostResolver } from './resolv-conf-check.ts';
import type { NodeSettings } from './settings.ts';
import { StartEvents, type StartFacts } from './start-events.ts';
import { nodeSources, type PlegHealth, type VolumesInUse } from './status/node-sources.ts';
import { NodeStatus } from './status/node-status.ts';

/** How the node is kept up to date. */
export interface NodeReportSettings {
  /** The period of computing the node's status, and of writing it although nothing changed. */
  readonly statusUpdateMs: number;
  readonly statusReportMs: number;
  readonly leaseDurationSeconds: number;
  /** False: another component of the cluster makes the node, and the agent only reports to it. */
  readonly registerNode: boolean;
  /** Addresses for pods of a node without an API server; empty leaves them to the runtime. */
  readonly podCidr: string;
  /** Whether the node lists the runtime handlers of its runtime. */
  readonly announcesHandlers: boolean;
}

interface NodeDeps {
  readonly ports: CommonPorts;
  readonly settings: NodeSettings & NodeReportSettings;
  readonly signals: NodeSignals;
  readonly views: Pick<NodeViews, 'health' | 'storage'>;
  readonly host: NodeHost;
  readonly runtime: RuntimeReader & RuntimeNetwork;
  readonly events: NodeEvents;
  readonly startFacts: StartFacts;
  readonly resolver: HostResolver;
  readonly programStart: ProgramStart;
  readonly pleg: PlegHealth;
  readonly volumes: VolumesInUse;
  readonly formerDevices: FormerDevices;
  /** Undefined on a node without an API server. */
  readonly cluster: NodeCluster | undefined;
}

export interface NodeParts {
  /** After them the view has this machine's own node; started before the first pod is reconciled. */
  readonly early: readonly Component[];
  /** Components that write to the API server and the runtime; started when pods may come and go. */
  readonly late: readonly Component[];
}

/** The node of this machine: written to the API server where there is one, otherwise only read by other subsystems. */
export function createNode(deps: NodeDeps): NodeParts {
  const { ports, settings, events, startFacts, resolver, programStart, cluster } = deps;
  const own = new OwnNode({ ...ports, settings, sources: sourcesOf(deps) });
  const startup = new NodeStartup({ ...ports, ...programStart });
  const start = new StartEvents(events, startFacts);
  const resolvConf = new ResolvConfCheck(resolver, events);
  const parts = cluster === undefined ? loneNode(deps, own) : clusterNode(deps, own, startup, cluster);
  return { ...parts, early: [start, resolvConf, ...parts.early] };
}

function sourcesOf({ views, formerDevices, settings, signals, ...deps }: NodeDeps): ReturnType<typeof nodeSources> {
  const { devices } = formerDevices;
  const { announcesHandlers } = settings;
  const conditions = nodeConditions(signals.shutdown);
  return nodeSources({ ...deps, ...views, devices, announcesHandlers, conditions });
}

function loneNode({ ports, settings, signals, runtime }: NodeDeps, own: OwnNode): NodeParts {
  const { podCidr: configured } = settings;
  return {
    early: [new LoneNode({ own, view: { setOwn: (node) => signals.own.broadcast(node) } })],
    late: [new PodCidr({ ...ports, runtime, watch: undefined, node: () => undefined, configured })],
  };
}

function clusterNode(
  { ports, settings, signals, runtime, events, formerDevices }: NodeDeps,
  own: OwnNode,
  startup: NodeStartup,
  { api, mirror, watch }: NodeCluster,
): NodeParts {
  const { nodeName } = settings;
  const common = { ...ports, api, watch };
  const resetConnections = (): void => api.reset();
  const registration = new RegisterNode({
    ...common,
    own,
    diff: nodeDiff,
    events,
    startup,
    registerNode: settings.registerNode,
    resetExtendedResources: () => formerDevices.resetAll,
    onRegistered: (node) => signals.registered.broadcast(node),
  });
  const status = new NodeStatus({
    ...common,
    mirror,
    own,
    view: { setOwn: (node) => signals.own.broadcast(node) },
    diff: nodeDiff,
    events,
    updateMs: settings.statusUpdateMs,
    reportMs: settings.statusReportMs,
    registered: () => registration.isRegistered(),
    shuttingDown: () => signals.shutdown.isSet(),
    resetConnections,
    onReported: (reported) => startup.reported(reported),
  });
  signals.statusDue.takenBy(() => status.wake());
  signals.registered.listen((node) => status.nodeRegistered(node));
  const podCidr = new PodCidr({
    ...common,
    runtime,
    node: () => mirror.get({ name: nodeName }),
    configured: '',
  });
  const lease = new NodeLease({
    ...common,
    nodeName,
    durationSeconds: settings.leaseDurationSeconds,
    node: () => leaseNode(mirror.get({ name: nodeName })),
    resetConnections,
  });
  mirror.listen((change) => {
    status.mirrorChanged(change);
    podCidr.reconcile();
    signals.addressesChanged.broadcast();
  });
  return { early: [status], late: [registration, podCidr, lease] };
}
