import type { Component } from '../../base/component.ts';
import type { Settings } from '../../config/index.ts';
import { createEviction } from '../../eviction/create-eviction.ts';
import { createImages } from '../../images/create-images.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { createNode } from '../../node/create-node.ts';
import { createNodeView } from '../../node/create-node-view.ts';
import type { NodeEvents } from '../../node/index.ts';
import { createObjects } from '../../objects/create-objects.ts';
import { createPlugins } from '../../plugins/create-plugins.ts';
import { createApiPods } from '../../pods/api/create-api-pods.ts';
import { createPods, type PodViews } from '../../pods/create-pods.ts';
import { createSources } from '../../pods/create-sources.ts';
import { createPodStores, type PodStoreViews } from '../../pods/create-stores.ts';
import { createCgroups } from '../../resources/create-cgroups.ts';
import { createStats } from '../../stats/create-stats.ts';
import { createStorageDrivers } from '../../volumes/create-storage-drivers.ts';
import { createVolumes } from '../../volumes/create-volumes.ts';
import { noDriverRecord } from '../../volumes/csi/index.ts';
import { canKeepOutOfSwap, noTokens, noTrust } from '../../volumes/index.ts';
import { createAgentApi, type AgentApi } from './agent-api.ts';
import type { BootFacts } from './boot.ts';
import { createAgentServer } from './create-agent-server.ts';
import { driverStats } from './driver-stats.ts';
import type { Platform } from './platform.ts';
import { nodeEvents, podEvents } from './pod-events.ts';
import { objectsOfPods } from './pod-objects.ts';
import { reflectOn } from './reflect.ts';
import { cgroupSettings } from './settings/cgroup-settings.ts';
import { imageSettings } from './settings/image-settings.ts';
import { admissionNodeSettings, nodeSettings } from './settings/node-settings.ts';
import { configuredSources, podSettings } from './settings/pod-settings.ts';
import { nodeFacts, runtimeSettings } from './settings/runtime-settings.ts';
import { sourceSettings } from './settings/source-settings.ts';
import { statsSettings } from './settings/stats-settings.ts';
import { volumeSettings } from './settings/volume-settings.ts';
import type { AgentSignals } from './signals.ts';
import { statusCheckpoint, statusEntries } from './status-checkpoint.ts';

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
  const { ports, signals, host, cri, nodeName, runtimeName, formerDevices } = facts;
  const { podRemoval, inbox, node: nodeSignals, driverChanged, storageAnswers } = signals;
  const { machine, kernel } = host;
  const { config, flags } = settings;
  const runtime = runtimeSettings(settings, facts, host);
  const paths = podPaths(runtime.rootDir, runtime.podLogsDir);

  // The API server's objects, and what is reported to it.
  const api = facts.api && createAgentApi(ports, facts.api, nodeName);
  const events = podEvents(ports.log, api?.recorder);
  const eventsOfNode = nodeEvents(ports.log, nodeName, api?.recorder);

  // Stores, and the node as pods see it.
  const stores = createPodStores({
    ports,
    signals,
    paths,
    events,
    runtime: cri,
    files: host.pods.files,
    terminationMessages: host.pods.terminationMessages,
    sources: configuredSources(settings),
  });
  stores.statuses.restore(statusEntries(facts.statuses));
  const cluster = api && { api: api.client, mirror: api.mirrors.node, watch: api.workqueues };
  const nodeViews = createNodeView({
    ports,
    settings: admissionNodeSettings(settings, nodeName),
    signals: nodeSignals,
    runtime: cri,
    kernel,
    host,
    formerDevices,
    cluster,
  });
  const { view, health } = nodeViews;
  const node = { facts: nodeFacts(machine, () => view.allocatable()), hostIps: () => view.hostIps() };

  // Objects that pods refer to.
  const objects = createObjects({
    ports,
    settings: {
      changeDetectionStrategy: config.configMapAndSecretChangeDetectionStrategy,
      clusterTrustBundles: settings.featureGates.all['ClusterTrustBundleProjection'] === true,
    },
    inbox,
    podRemoval,
    api: api && {
      client: api.client,
      reflect: reflectOn({ ...ports, api: api.client, signal }),
      node: { node: () => api.mirrors.node.get({ name: nodeName }) },
    },
  });
  const named = objectsOfPods(objects, api?.mirrors);

  // Storage drivers, images, volumes.
  const storageDrivers = createStorageDrivers({
    ports,
    signals,
    open: host.plugins.open,
    record: nodeViews.driverRecord ?? noDriverRecord,
  });
  const plugins = createPlugins({
    ports,
    settings: { rootDir: flags.rootDir },
    ...host.plugins,
    handlers: { CSIPlugin: storageDrivers.handler },
  });
  const folders = { workingDir: platform.process.workingDir, homeDir: platform.env['HOME'] ?? '' };
  const images = createImages({
    ports,
    signals,
    settings: imageSettings(settings, folders),
    service: cri,
    events,
    secrets: named.lookup,
    ...host.images,
    providers: facts.imageProviders,
    pullWaits: stores.starts,
  });
  const volumes = createVolumes({
    ports,
    signals: { inbox, podRemoval, nodeStatusDue: nodeSignals.statusDue, driverChanged, storageAnswers },
    settings: volumeSettings(runtime, { kernelRelease: kernel.kernelVersion, hasSeLinux: kernel.hasSelinux }),
    machine: host.volumes,
    paths,
    node,
    objects: named.lookup,
    images: images.volumeImages,
    tokens: objects.tokens ?? noTokens,
    trust: objects.trust ?? noTrust,
    events,
    drivers: storageDrivers.drivers,
    cluster: api && {
      api: api.client,
      node: api.mirrors.node,
      drivers: api.mirrors.drivers,
      claimEvents: { record: (about, event) => api.recorder.record({ about, ...event }) },
      nodeLabels: () => view.node()?.metadata?.labels,
    },
  });

  // Cgroups, pods, and the pods of the API server.
  const cgroups = createCgroups({
    ports,
    signals,
    settings: cgroupSettings(settings, runtime, machine),
    host: host.cgroups,
    pods: {
      active: () => stores.activePods.activePods(),
      complete: () => stores.unknownPods.sourcesReady(),
      isUnknown: (uid) => stores.unknownPods.isUnknown(uid),
    },
    events: eventsOfNode,
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
    node: { facts: node.facts, ips: node.hostIps, forAdmission: nodeViews.admissionNode },
    objects: named,
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
  const checkpoint = statusCheckpoint({ ...ports, disk: host.checkpoints, rootDir: flags.rootDir }, stores);
  signals.statusChanged.listen(() => checkpoint.changed());
  // A removed status must not come back after the next start.
  signals.statusForgotten.listen(() => checkpoint.changed());

  // The node's status, usage, eviction, and the pages that show all this.
  const { lastRun } = facts;
  const ownNode = createNode({
    ports,
    settings: nodeSettings(settings, { nodeName, architecture: kernel.architecture }),
    signals: nodeSignals,
    views: nodeViews,
    host: host.node,
    runtime: cri,
    events: eventsOfNode,
    startFacts: {
      cgroupVersion: machine.cgroupVersion,
      swapBytes: machine.swapBytes,
      tmpfsNoSwap: canKeepOutOfSwap(kernel.kernelVersion),
      lastRun: lastRun?.kind === 'stopped' ? undefined : lastRun,
    },
    programStart: host.programStart,
    pleg: pods.views.pleg,
    volumes: { volumesInUse: () => volumes.inUse.names() },
    formerDevices,
    cluster,
  });
  const stats = createStats({
    ports,
    settings: statsSettings(settings, runtime),
    podRemoval,
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
      drivers: storageDrivers.drivers,
      volumes: volumes.volumes,
      stores,
      events,
    }),
    page: facts.registries.agent,
  });
  const eviction = createEviction({
    ports,
    settings: { localStorageCapacityIsolation: config.localStorageCapacityIsolation ?? false },
    podRemoval,
    pods: stores.activePods,
    workers: pods.views,
    meter: stats.stats,
    events,
  });
  const server = createAgentServer(settings, facts, { api, view, stores, pods: pods.views, stats });

  const { node: nodeMirror, services, runtimeClasses, drivers } = api?.mirrors ?? {};
  return {
    components: [
      api?.recorder,
      ...nodeViews.early,
      ...ownNode.early,
      ...stats.components,
      ...server.components,
      ...cgroups.components,
      checkpoint,
      ...images.components,
      ...volumes.components,
      ...pods.components,
      ...eviction.components,
      ...sources,
      ...objects.components,
      services,
      runtimeClasses,
      drivers,
      nodeMirror,
      ...(apiPods?.components ?? []),
      ...nodeViews.late,
      ...ownNode.late,
      apiPods?.staticPods,
      ...storageDrivers.components,
      ...plugins.components,
    ].filter((component) => component !== undefined),
    views: { pods: pods.views, stores, signals, nodeEvents: eventsOfNode, api },
  };
}
