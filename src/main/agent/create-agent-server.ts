import type { Component } from '../../base/component.ts';
import type { Settings } from '../../config/index.ts';
import type { NodeViews } from '../../node/create-node-view.ts';
import type { PodViews } from '../../pods/create-pods.ts';
import type { PodStores } from '../../pods/create-stores.ts';
import { createServer } from '../../server/index.ts';
import { noAllocations } from '../../server/podresources/index.ts';
import type { StatsParts } from '../../stats/index.ts';
import type { AgentApi } from './agent-api.ts';
import type { BootFacts } from './boot.ts';
import { servingIdentity } from './serving-identity.ts';
import { usagePages } from './usage-pages.ts';

interface AgentServerParts {
  readonly api: AgentApi | undefined;
  readonly view: NodeViews['view'];
  readonly stores: PodStores;
  readonly pods: PodViews;
  readonly stats: StatsParts;
}

/** The agent's HTTP servers with all their routes. */
export function createAgentServer(
  settings: Settings,
  facts: BootFacts,
  { api, view, stores, pods, stats }: AgentServerParts,
): { readonly components: readonly Component[] } {
  const { ports, signals, host, served, serverAccess, cri, nodeName } = facts;
  const addresses = () => view.node()?.status?.addresses ?? [];
  const serving =
    serverAccess &&
    servingIdentity({
      ...ports,
      settings,
      nodeName,
      files: host.server.certificates,
      cluster: api && { api: api.client, addresses },
    });
  signals.node.addressesChanged.listen(() => serving?.addressesChanged?.());
  return createServer(served.settings, {
    ...ports,
    boot: served.parts,
    secured: serverAccess && serving && { access: serverAccess, serving },
    pods: {
      pods: () => pods.pods(),
      seen: () => pods.observed(),
      stuck: () => pods.stuck(),
      activePods: () => stores.activePods.activePods(),
    },
    desired: stores.desired,
    statuses: stores.statuses,
    observed: stores.observed,
    runtime: cri,
    stats: stats.stats,
    usagePages: usagePages({ usageForPage: stats.usageForPage, machine: () => stats.stats.machine() }),
    // There is no device manager, and all resources of the node are shared.
    health: { lastSyncRound: () => pods.lastRelist(), devicePluginProblem: () => undefined },
    allocations: noAllocations,
    files: host.server.files,
    sockets: facts.sockets,
  });
}
