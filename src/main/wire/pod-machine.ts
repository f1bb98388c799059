import { defaultBackoffLimits } from '../../base/backoff.ts';
import type { Component } from '../../base/component.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { ImageManager } from '../../images/index.ts';
import { podObject, type DesiredPod, type PodSource } from '../../model/desired-pod.ts';
import { podEvents } from '../../model/event-reasons.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { PodRemoval } from '../../model/pod-removal.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { runtimeHandlerFor } from '../../model/runtime-class.ts';
import { createObjects, type Objects } from '../../objects/index.ts';
import { Admission, PodGate } from '../../pods/admission/index.ts';
import { Allocations } from '../../pods/allocation/index.ts';
import { computePrune } from '../../pods/container-gc/index.ts';
import { DesiredPods } from '../../pods/desired/index.ts';
import { PodDirectories } from '../../pods/directories/index.ts';
import { Dispatch } from '../../pods/dispatch.ts';
import { Housekeeping, type StuckPod } from '../../pods/housekeeping/index.ts';
import { ObservedPods, Pleg } from '../../pods/pleg/index.ts';
import {
  nodeHookRequests,
  PodRuntime,
  prepareContainer,
  RestartBackoff,
  StartErrors,
  type PodEvent,
} from '../../pods/runtime/index.ts';
import { createProber, lastKnownIn, ProbeManager, probeMetrics } from '../../pods/probes/index.ts';
import { PodSources } from '../../pods/sources/index.ts';
import { PodStarts, PodStatuses, StatusPublisher } from '../../pods/status/index.ts';
import { PodSync } from '../../pods/sync/index.ts';
import type { VolumeManager } from '../../volumes/index.ts';
import { UserNamespaces } from '../../pods/userns/index.ts';
import { PodWorkers } from '../../pods/worker/index.ts';
import { activeDeadlines } from './deadlines.ts';
import type { PodMachineDeps } from './pod-machine-deps.ts';
import { wireLogs } from './logs.ts';
import { podMetrics } from './pod-metrics.ts';
import { imagesOfVolumes, wireVolumes } from './volumes.ts';
import { tracedSyncer } from './tracing.ts';
import { withLastWords } from './with-last-words.ts';

/** Everything between "a source has a set of pods" and "the runtime runs them". */
export interface PodMachine {
  /** In the order in which they start. */
  readonly components: readonly Component[];
  /** Takes the full set of one source. */
  set(source: PodSource, pods: readonly DesiredPod[]): void;
  /** Takes the ConfigMaps and Secrets of the manifests folder. */
  setObjects(objects: Parameters<Objects['setManifestObjects']>[0]): void;
  /** The desired pods as API objects, with the status the agent sees. */
  pods(): readonly Pod[];
  /** Something that these pods use has changed. */
  wake(uids: readonly PodUid[]): void;
  /** Nothing of the pod is left on this node, or it was never let in. */
  isOver(uid: PodUid): boolean;
  /** Every source has said what it wants. */
  hasAllSpoken(): boolean;
  /** A container of the pod runs, as far as is known. */
  runs(uid: PodUid): boolean;
  /** Nobody wants the pod or looks after it, and nothing of it is in the runtime or on disk. */
  isUnknown(uid: PodUid): Promise<boolean>;
  readonly desired: DesiredPods;
  readonly workers: PodWorkers;
  readonly statuses: PodStatuses;
  readonly pleg: Pleg;
  readonly observed: ObservedPods;
  readonly volumes: Pick<VolumeManager, 'mounted' | 'tryAgain'>;
  /** Volumes that a controller must not detach from this node; undefined before that is known. */
  volumesInUse(): readonly string[] | undefined;
  /** What could not be removed of pods that are gone, and why. */
  stuck(): readonly StuckPod[];
  /** Tells people of a pod, while it is wanted here. */
  tell(uid: PodUid, event: PodEvent): void;
  /** Storage that did not answer may do so now. */
  storageAnswers(): void;
  /** A storage driver came or went. */
  driverChanged(name: string): void;
  /** Every pod of which the runtime has anything, as last seen. */
  seen(): readonly ObservedPod[];
  /** How long starts take, as far as the watch of pods tells. */
  readonly starts: PodStarts;
}

const relistPeriodMs = 1_000;

export function wirePodMachine(deps: PodMachineDeps): PodMachine {
  const { clock, random, log, cri, files, events, settings, node, hostIps } = deps;
  const paths = podPaths(settings.rootDir, settings.podLogsDir);

  const measured = deps.metrics && { metrics: deps.metrics };

  // Stores.
  const desired = new DesiredPods();
  const observed = new ObservedPods({ runtime: deps.lastWords ? withLastWords(cri, deps.lastWords, log) : cri });
  const statuses = new PodStatuses((uid, status) => {
    logs.changed(uid);
    deps.onStatus?.(uid, status);
  });
  const allocations = new Allocations(log);
  const errors = new StartErrors();
  const starts = new PodStarts({ clock, ...measured });

  // Actors.
  const userNamespaces =
    deps.userNamespaces && new UserNamespaces({ log, runtime: cri, paths, ...deps.userNamespaces });
  const directories = new PodDirectories({
    files,
    random,
    paths,
    // What a pod of an earlier life of the agent left mounted comes down before its files go.
    beforeRemoval: (uid) => volumes.tearDown(uid),
    onRemoved: (uid) => userNamespaces?.release(uid),
  });
  const podRemoval = deps.podRemoval ?? new PodRemoval(log);
  const objects =
    deps.objects ??
    createObjects({
      ports: { clock, random, log },
      settings: { changeDetectionStrategy: '', clusterTrustBundles: false },
      inbox: { resourcesChanged: (uids) => dispatch.handle({ type: 'resourcesChanged', uids }) },
      podRemoval,
      api: undefined,
    });
  const { podObjects } = objects;
  const tokens = deps.tokens ?? objects.tokens;
  const lookup = {
    configMap: (namespace: string, name: string) => podObjects.configMap(namespace, name),
    secret: (namespace: string, name: string) => podObjects.secret(namespace, name),
    problem: (kind: 'ConfigMap' | 'Secret', namespace: string, name: string) =>
      podObjects.problem(kind, namespace, name),
    services: deps.services ?? (() => []),
  };
  const images = new ImageManager({
    clock,
    service: cri,
    events,
    parallelPulls: deps.parallelPulls,
    pulls: starts,
    ...deps.imagePolicy?.extras(lookup),
  });
  const { volumes, subPaths, csi } = wireVolumes({
    clock,
    random,
    log,
    host: deps.volumeHost,
    programs: deps.mountPrograms,
    claims: deps.claims,
    paths,
    settings,
    node,
    hostIps,
    objects: lookup,
    events,
    images: imagesOfVolumes(images),
    ...(tokens && { tokens }),
    ...(objects.trust && { trust: objects.trust }),
    storage: deps.storage,
    inUseChanged: deps.inUseChanged,
    ...measured,
    wake: (uid) => dispatch.handle({ type: 'resourcesChanged', uids: [uid] }),
  });
  const recursiveReadOnly = (pod: DesiredPod): boolean => {
    const choice = runtimeHandlerFor(pod, deps.runtimeClasses, deps.runtimeHandlers?.() ?? new Set());
    return 'handler' in choice && deps.recursiveReadOnly?.(choice.handler) === true;
  };
  const prepare = prepareContainer({
    images,
    volumes,
    subPaths,
    files: directories,
    lookup,
    settings,
    node,
    hostIps,
    recursiveReadOnly,
  });
  const backoff = new RestartBackoff({ clock, limits: deps.restartLimits ?? defaultBackoffLimits });
  const { hostDns } = deps;
  const gcPolicy = deps.gcPolicy ?? { minAgeMs: 0, maxPerContainer: 1, maxTotal: -1 };
  const logs = wireLogs({
    clock,
    random,
    log,
    cri,
    observed,
    desired,
    keeping: deps.logs,
    podLogsDir: settings.podLogsDir,
    policy: gcPolicy,
  });
  const probes = new ProbeManager({
    clock,
    random,
    log,
    events,
    ownRestartRules: settings.featureGates('ContainerRestartRules'),
    ...(deps.probeMetrics && { metrics: probeMetrics(deps.probeMetrics) }),
    prober: deps.prober ?? createProber({ clock, runtime: cri }),
    observations: {
      get: (uid) => observed.get(uid),
      podIp: (uid) => {
        const sandbox = observed.get(uid)?.sandboxes.find(({ state }) => state === 'ready');
        return sandbox?.network === 'node' ? hostIps()[0] : sandbox?.ips[0];
      },
    },
    lastKnown: (uid, name, id) => lastKnownIn(statuses.get(uid) ?? desired.get(uid)?.status, name, id),
    onChange: (uid) => dispatch.handle({ type: 'probeChanged', uid }),
  });
  const runtime = new PodRuntime({
    clock,
    log,
    runtime: cri,
    events,
    probes: probes.results,
    errors,
    backoff,
    hooks: { requests: deps.hookRequests ?? nodeHookRequests },
    prepare,
    volumes,
    prune: (seen) => computePrune(seen, gcPolicy.maxPerContainer),
    logs: logs.remover,
    settings,
    hostDns,
    hostIps,
    ...(deps.runtimeHandlers && { runtimeHandlers: deps.runtimeHandlers }),
    ...(deps.runtimeClasses && { runtimeClasses: deps.runtimeClasses }),
    ...(deps.networkError && { networkError: deps.networkError }),
    ...(userNamespaces && { userNamespaces }),
    toldOfEnds: () => pleg.streamHealthy(),
    ...measured,
  });
  const publisher = new StatusPublisher({
    clock,
    log,
    statuses,
    probes: probes.results,
    resizeRefusal: (uid) => allocations.refusal(uid),
    startErrors: (uid) => errors.of(uid),
    hostIps,
    runtimeName: deps.runtimeName,
    recursiveReadOnly,
    ...measured,
    features: {
      ownRestartRules: settings.featureGates('ContainerRestartRules'),
      stopSignals: settings.featureGates('ContainerStopSignals'),
      users: settings.featureGates('SupplementalGroupsPolicy'),
    },
  });
  const syncer = new PodSync({
    log,
    observed,
    runtime,
    volumes,
    directories,
    objects: podObjects,
    cgroups: deps.cgroups,
    statuses: publisher,
    events,
    deadlines: activeDeadlines(clock),
    probes,
  });

  // Loops. Each announces to the dispatch below, which exists before any of them starts.
  const announce = (uid: PodUid): void => {
    housekeeping.wake();
    deps.onLifeChange?.(uid);
  };
  const workers = new PodWorkers({
    clock,
    random,
    log,
    syncer: deps.tracer === undefined ? syncer : tracedSyncer(syncer, deps.tracer),
    resyncMs: deps.resyncMs,
    ...measured,
    onChange: announce,
    onNewLife: (pod) =>
      dispatch.handle({ type: 'configChanged', update: { op: 'add', source: pod.source, pods: [pod] } }),
  });
  const sources = new PodSources({
    clock,
    log,
    configured: deps.sources,
    onUpdate: (update) => dispatch.handle({ type: 'configChanged', update: allocations.update(update) }),
    recordDuplicate: (pod, message) =>
      events.record(pod, { type: 'Warning', reason: podEvents.failedValidation, message }),
  });
  const housekeeping: Housekeeping = new Housekeeping({
    clock,
    random,
    log,
    sourcesReady: () => sources.allReady(),
    isDesired: (uid) => desired.has(uid),
    workers,
    observed,
    remover: runtime,
    directories,
    remembered: () => statuses.all().keys(),
    onGone: (uid) => onGone(uid),
    ...measured,
  });
  const gate = new PodGate({
    clock,
    admission: new Admission({
      log,
      node: deps.admissionNode,
      ...measured,
      running: { hasContainers: (uid) => observed.listed().has(uid) },
    }),
    active: () => desired.all().filter(({ uid }) => !workers.isFinished(uid)),
    statuses,
    events,
    terminate: (uid, how) => workers.terminate(uid, how),
  });
  const onGone = (uid: PodUid): void => {
    gate.forget(uid);
    statuses.forget(uid);
    images.forget(uid);
    starts.forget(uid);
    probes.removePod(uid);
    podRemoval.podRemoved(uid);
    deps.onGone?.(uid);
  };
  const dispatch = new Dispatch({ log, desired, gate, workers, housekeeping, onGone });
  const pleg: Pleg = new Pleg({
    clock,
    random,
    log,
    runtime: cri,
    observed,
    relistPeriodMs,
    podsOnDisk: () => directories.uids(),
    ...(deps.otherHints && { otherHints: deps.otherHints }),
    ...measured,
    onChange: (uid) => dispatch.handle({ type: 'observedChanged', uid }),
  });

  if (deps.metrics !== undefined) {
    const { metrics, mirrorPods } = deps;
    const count = { desired: () => desired.all(), workers, listed: () => observed.listed() };
    podMetrics({ metrics, ...count, ...(mirrorPods && { mirrorPods }) });
  }

  return {
    components: [
      ...(deps.imagePolicy?.records ? [deps.imagePolicy.records] : []),
      // What pods were given before is known before a worker asks for more.
      ...(userNamespaces ? [userNamespaces] : []),
      ...(csi?.components ?? []),
      volumes,
      pleg,
      probes,
      workers,
      housekeeping,
      ...logs.components,
    ],
    set: (source, pods) => sources.set(source, pods),
    setObjects: (told) => objects.setManifestObjects(told),
    wake: (uids) => dispatch.handle({ type: 'resourcesChanged', uids }),
    isOver: (uid) => workers.isFinished(uid) || gate.isRejected(uid),
    hasAllSpoken: () => sources.allReady(),
    runs: (uid) =>
      observed
        .listed()
        .get(uid)
        ?.items.some(({ state }) => state === 'running') === true,
    isUnknown: async (uid) => {
      const isKnown = (): boolean => desired.has(uid) || workers.knows(uid) || observed.listed().has(uid);
      if (!sources.allReady() || pleg.lastRelist() === undefined || isKnown()) return false;
      return !(await directories.uids()).has(uid) && !isKnown();
    },
    pods: () => desired.all().map((pod) => podObject(pod, statuses.get(pod.uid))),
    desired,
    workers,
    statuses,
    pleg,
    observed,
    volumes,
    volumesInUse() {
      const ofDrivers = csi === undefined ? [] : csi.inUse();
      return ofDrivers && [...new Set([...volumes.attachable(), ...ofDrivers])];
    },
    stuck: () => housekeeping.stuck(),
    tell(uid, event) {
      const pod = desired.get(uid);
      if (pod !== undefined) events.record(pod, event);
    },
    storageAnswers() {
      volumes.tryAllAgain();
      const uids = subPaths.takeWaiting();
      if (uids.length > 0) dispatch.handle({ type: 'resourcesChanged', uids });
    },
    driverChanged(name) {
      csi?.driverChanged(name);
      volumes.tryAgain('kubernetes.io/csi');
    },
    seen: () => {
      const seen: ObservedPod[] = [];
      for (const uid of observed.listed().keys()) {
        const pod = observed.get(uid);
        if (pod !== undefined) seen.push(pod);
      }
      return seen;
    },
    starts,
  };
}
