import { createShutdown } from '../../shutdown/create-shutdown.ts';
import type { Component } from '../../base/component.ts';
import type { PodStores } from '../../pods/create-stores.ts';
import type { AgentPods } from './create-agent-pods.ts';
import type { AgentContext } from './create-context.ts';
import { shutdownSettings } from './settings/shutdown-settings.ts';
import { apiServerFlush } from './api-server-flush.ts';

interface ShutdownParts {
  readonly stores: PodStores;
  readonly pods: AgentPods;
}

/** What the node does when its machine goes down. */
export function createAgentShutdown(
  { settings, facts, api, nodeEvents }: AgentContext,
  { stores, pods: { pods, apiPods } }: ShutdownParts,
): { readonly components: readonly Component[] } {
  const { ports, signals, host, nodeName } = facts;
  const { desired, lifecycles, activePods, sources } = stores;
  return createShutdown({
    ports,
    settings: shutdownSettings(settings),
    logind: host.systemd?.logind,
    files: host.shutdown,
    bootId: async () => (await host.node.identity()).bootId,
    pods: {
      activePods: () => activePods.activePods(),
      complete: () => sources.sourcesReady(),
      terminate: (uid, how) => pods.views.terminate(uid, how),
      hasEnded: (uid) => !lifecycles.knows(uid) || lifecycles.isFinished(uid),
    },
    lifecycleChanged: signals.lifecycleChanged,
    flag: signals.node.shutdown,
    statusDue: signals.node.statusDue,
    events: nodeEvents,
    apiServer:
      api && apiPods && apiServerFlush(api, nodeName, () => desired.all().filter(({ uid }) => !apiPods.hasStatus(uid))),
  });
}
