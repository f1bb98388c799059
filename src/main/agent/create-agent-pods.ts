import type { Component } from '../../base/component.ts';
import { createApiPods } from '../../pods/api/create-api-pods.ts';
import { createPods, type PodViews } from '../../pods/create-pods.ts';
import { createSources } from '../../pods/create-sources.ts';
import type { PodStores } from '../../pods/create-stores.ts';
import { createCgroups, type Cgroups } from '../../resources/create-cgroups.ts';
import type { AgentNode } from './create-agent-node.ts';
import type { AgentObjects } from './create-agent-objects.ts';
import type { AgentStorage } from './create-agent-storage.ts';
import type { AgentContext } from './create-context.ts';
import { cgroupSettings } from './settings/cgroup-settings.ts';
import { podSettings } from './settings/pod-settings.ts';
import { sourceSettings } from './settings/source-settings.ts';
import { statusCheckpoint } from './status-checkpoint.ts';

export interface AgentPods {
  readonly cgroups: Cgroups;
  readonly pods: { readonly components: readonly Component[]; readonly views: PodViews };
  /** The pods of the API server; undefined without one. */
  readonly apiPods: ReturnType<typeof createApiPods> | undefined;
  readonly sources: readonly Component[];
  readonly checkpoint: Component;
}

interface PodParts {
  readonly stores: PodStores;
  readonly node: AgentNode;
  readonly objects: AgentObjects;
  readonly storage: AgentStorage;
}

/** Cgroups, pods, the pods of the API server, and the sources of static pods. */
export function createAgentPods(context: AgentContext, { stores, node, objects, storage }: PodParts): AgentPods {
  const { settings, facts, runtime, api, events } = context;
  const { ports, signals, host, cri, nodeName, runtimeName } = facts;
  const { health, admissionNode } = node.views;
  const { images, volumes } = storage;
  const cgroups = createCgroups({
    ports,
    signals,
    settings: cgroupSettings(settings, runtime, host.machine),
    host: host.cgroups,
    units: host.systemd?.units,
    pods: {
      active: () => stores.activePods.activePods(),
      complete: () => stores.unknownPods.sourcesReady(),
      trace: (uid) => stores.unknownPods.trace(uid),
    },
    events: context.nodeEvents,
  });
  const pods = createPods(signals, stores, {
    ports: { ...ports, events, tracer: facts.tracing?.tracer, probeMetrics: facts.registries.probes },
    settings: podSettings(settings, runtime),
    runtime: {
      cri,
      name: () => runtimeName,
      handlers: () => health.handlers(),
      recursiveReadOnly: (handler) => health.handlerFeatures(handler)?.recursiveReadOnlyMounts === true,
      networkError: () => health.networkError(),
      eventSources: facts.eventSources,
    },
    host: host.pods,
    node: { facts: node.facts, ips: node.hostIps, forAdmission: admissionNode },
    objects: objects.ofPods,
    images: images.images,
    volumes: volumes.volumes,
    subPaths: volumes.subPaths,
    cgroups: cgroups.podContainers,
  });
  const apiPods =
    api &&
    createApiPods({
      ports,
      signals,
      stores,
      api: api.client,
      pods: api.mirrors.pods,
      node: api.mirrors.node,
      nodeName,
      workqueues: api.workqueues,
      views: pods.views,
    });
  const sources = createSources({
    ports,
    settings: sourceSettings(settings, nodeName),
    host: host.sources,
    pods: apiPods?.staticPods ?? stores.sources,
    objects: { set: (found) => objects.setManifestObjects(found) },
  });
  const checkpoint = statusCheckpoint({ ...ports, disk: host.checkpoints, rootDir: settings.flags.rootDir }, stores);
  signals.statusChanged.listen(() => checkpoint.changed());
  // Nor is the status of a pod kept that its source has removed.
  signals.lifecycleChanged.listen(() => checkpoint.changed());
  // A removed status must not come back after the next start.
  signals.statusForgotten.listen(() => checkpoint.changed());
  return { cgroups, pods, apiPods, sources, checkpoint };
}
