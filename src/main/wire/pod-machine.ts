import { release } from 'node:os';
import { defaultBackoffLimits } from '../../base/backoff.ts';
import { Broadcaster } from '../../base/broadcaster.ts';
import type { Component } from '../../base/component.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import type { DesiredPod, PodSource } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { referrers, StandaloneObjects } from '../../objects/index.ts';
import { createPodSignals, type PodSignals } from '../../pods/create-signals.ts';
import { createPodStores, type PodStores } from '../../pods/create-stores.ts';
import { createPods, type PodViews } from '../../pods/create-pods.ts';
import type { StuckPod } from '../../pods/housekeeping/index.ts';
import type { LinkFiles, LogFiles, LogWatch } from '../../pods/logs/index.ts';
import { createProber } from '../../pods/probes/index.ts';
import { nodeHookRequests, type PodEvent } from '../../pods/runtime/index.ts';
import { Registry } from '../../telemetry/index.ts';
import type { VolumeManager } from '../../volumes/index.ts';
import type { PodMachineDeps } from './pod-machine-deps.ts';
import { imagesOfVolumes } from './volumes.ts';

/** Everything between "a source has a set of pods" and "the runtime runs them". */
export interface PodMachine extends PodStores {
  readonly components: readonly Component[];
  readonly signals: PodSignals;
  readonly views: PodViews;
  set(source: PodSource, pods: readonly DesiredPod[]): void;
  setObjects(objects: Parameters<StandaloneObjects['set']>[0]): void;
  pods(): readonly Pod[];
  wake(uids: readonly PodUid[]): void;
  readonly volumes: Pick<VolumeManager, 'mounted' | 'tryAgain'>;
  volumesInUse(): readonly string[] | undefined;
  stuck(): readonly StuckPod[];
  tell(uid: PodUid, event: PodEvent): void;
  storageAnswers(): void;
  driverChanged(name: string): void;
  seen(): readonly ObservedPod[];
  lastRelist(): number | undefined;
}

export function wirePodMachine(deps: PodMachineDeps): PodMachine {
  const { clock, random, log, heartbeats, cri, files, events, decisions, settings, node, hostIps } = deps;
  const paths = podPaths(settings.rootDir, settings.podLogsDir);
  const metrics = deps.metrics ?? new Registry();
  const ports = { clock, random, log, heartbeats, metrics };
  const signals = createPodSignals(log);
  const terminationMessages = deps.lastWords ?? { readEnd: async () => '', readLogTail: async () => '' };
  const stores = createPodStores({
    ports,
    signals,
    runtime: cri,
    terminationMessages,
    files,
    paths,
    sources: deps.sources,
    events,
  });
  const { desired, statuses, starts } = stores;
  const objects = new StandaloneObjects({
    log,
    onChange: (changed) => signals.inbox.resourcesChanged(referrers(changed, desired.all())),
  });
  const named = deps.objects ?? objects;
  const lookup = {
    configMap: (namespace: string, name: string) => podObjects.configMap(namespace, name),
    secret: (namespace: string, name: string) => podObjects.secret(namespace, name),
    problem: (kind: 'ConfigMap' | 'Secret', namespace: string, name: string) =>
      podObjects.problem(kind, namespace, name),
    services: deps.services ?? (() => []),
  };
  const ofImages = createImages({
    ports,
    signals: { podRemoval },
    ...(deps.imagePolicy ?? noImagePolicy(settings.rootDir)),
    service: cri,
    events,
    decisions,
    parallelPulls: deps.parallelPulls,
    pulls: starts,
    ...deps.imagePolicy?.extras(lookup),
  });
  const { images } = ofImages;
  const storage = deps.storage ?? noStorage;
  const driverChanged = new Broadcaster<string>();
  const storageAnswers = new Broadcaster<void>();
  const ofVolumes = createVolumes({
    ports,
    signals: {
      inbox: { resourcesChanged: (uids) => dispatch.handle({ type: 'resourcesChanged', uids }) },
      podRemoval,
      nodeStatusDue: { mark: () => deps.inUseChanged?.() },
      driverChanged,
      storageAnswers,
    },
    settings: volumeSettings(settings, { kernelRelease: release(), hasSeLinux: storage.hasSeLinux }),
    machine: {
      host: deps.volumeHost,
      programs: deps.mountPrograms,
      files: storage.files,
      devices: storage.devices,
    },
    paths,
    node: { facts: node, hostIps },
    objects: lookup,
    images: ofImages.volumeImages,
    tokens: deps.tokens ?? noTokens,
    trust: deps.trust ?? noTrust,
    events,
    decisions,
    images: imagesOfVolumes(images),
    ...(tokens && { tokens }),
    ...(objects.trust && { trust: objects.trust }),
    storage: deps.storage,
    inUseChanged: deps.inUseChanged,
    metrics,
    wake: (uid) => signals.inbox.resourcesChanged([uid]),
  });
  const pods = createPods(signals, stores, {
    ports: { ...ports, events, decisions, tracer: deps.tracer, probeMetrics: deps.probeMetrics ?? new Registry() },
    settings: {
      runtime: settings,
      resyncMs: deps.resyncMs,
      restartLimits: deps.restartLimits ?? defaultBackoffLimits,
      logs: {
        limits: deps.logs?.limits ?? { maxSize: 10 << 20, maxFiles: 5, maxWorkers: 1, monitorIntervalMs: 10_000 },
        podLogsDir: settings.podLogsDir,
        linksDir: deps.logs?.linksDir,
        deadContainers: deps.gcPolicy ?? { minAgeMs: 0, maxPerContainer: 1, maxTotal: -1 },
      },
    },
    runtime: {
      cri,
      name: deps.runtimeName,
      handlers: deps.runtimeHandlers ?? (() => new Set()),
      recursiveReadOnly: deps.recursiveReadOnly ?? (() => false),
      networkError: deps.networkError ?? (() => undefined),
      eventSources: deps.otherHints ?? [],
    },
    host: {
      files,
      terminationMessages,
      logFiles: deps.logs?.files ?? inertLogFiles,
      hookRequests: deps.hookRequests ?? nodeHookRequests,
      prober: deps.prober ?? createProber({ clock, runtime: cri }),
      dns: deps.hostDns,
      userNamespaces: deps.userNamespaces ?? {
        enabled: true,
        files: { list: async () => [], readText: async () => '', replace: async () => {} },
        readSpace: async () => ({ problem: 'none' }),
      },
    },
    node: { facts: node, ips: hostIps, forAdmission: deps.admissionNode },
    objects: {
      lookup,
      runtimeClasses: deps.runtimeClasses,
      ready: async (pod, signal) => deps.objects?.ready(pod, signal),
    },
    images,
    volumes: Object.assign(volumes, { subPaths }),
    cgroups: deps.cgroups,
  });
  signals.podRemoval.register('images', { forget: (uid) => images.forget(uid), size: () => 0 });
  signals.podRemoval.register('machine', {
    forget: (uid) => {
      deps.objects?.release(uid);
      deps.onGone?.(uid);
    },
    size: () => 0,
  });
  signals.statusChanged.listen((uid) => deps.onStatus?.(uid, statuses.get(uid) ?? {}));
  signals.lifecycleChanged.listen((uid) => deps.onLifeChange?.(uid));
  return {
    ...stores,
    signals,
    views: pods.views,
    components: [
      ...(deps.imagePolicy?.records ? [deps.imagePolicy.records] : []),
      ...(csi?.components ?? []),
      volumes,
      ...pods.components,
    ],
    set: (source, set) => stores.sources.set(source, set),
    setObjects: (told) => objects.set(told),
    wake: (uids) => signals.inbox.resourcesChanged(uids),
    pods: () => pods.views.pods(),
    volumes,
    volumesInUse() {
      const ofDrivers = csi === undefined ? [] : csi.inUse();
      return ofDrivers && [...new Set([...volumes.attachable(), ...ofDrivers])];
    },
    stuck: () => pods.views.stuck(),
    tell(uid, event) {
      const pod = desired.get(uid);
      if (pod !== undefined) events.record(pod, event);
    },
    storageAnswers() {
      volumes.tryAllAgain();
      const uids = subPaths.takeWaiting();
      if (uids.length > 0) signals.inbox.resourcesChanged(uids);
    },
    driverChanged(name) {
      csi?.driverChanged(name);
      volumes.tryAgain('kubernetes.io/csi');
    },
    seen: () => pods.views.observed(),
    lastRelist: () => pods.views.lastRelist(),
  };
}

const inertLogFiles: LogFiles & LogWatch & LinkFiles = {
  size: async () => 0,
  list: async () => [],
  rename: async () => {},
  renameBack: async () => {},
  remove: async () => {},
  compress: async () => {},
  watch: () => () => {},
  makeFolder: async () => {},
  async *names() {},
  readLink: async () => undefined,
  exists: async () => false,
  link: async () => {},
  removeLink: async () => {},
};
