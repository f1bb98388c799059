import { defaultBackoffLimits, type BackoffLimits } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { Cri } from '../../cri/index.ts';
import type { Pod, PodStatus } from '../../gen/kubernetes/types.ts';
import { ImageManager } from '../../images/index.ts';
import { podObject, type DesiredPod, type PodSource } from '../../model/desired-pod.ts';
import type { HostDns } from '../../model/dns.ts';
import { podEvents } from '../../model/event-reasons.ts';
import { podPaths } from '../../model/pod-paths.ts';
import { runtimeHandlerFor, type RuntimeClasses } from '../../model/runtime-class.ts';
import type { NodeFacts, RuntimeSettings } from '../../model/runtime-settings.ts';
import type { ServiceObject } from '../../model/service-environment.ts';
import { referrers, StandaloneObjects } from '../../objects/index.ts';
import { Admission, PodGate, type AdmissionNode } from '../../pods/admission/index.ts';
import { computePrune, type GcPolicy } from '../../pods/container-gc/index.ts';
import { DesiredPods } from '../../pods/desired/index.ts';
import { PodDirectories, type Files } from '../../pods/directories/index.ts';
import { Dispatch } from '../../pods/dispatch.ts';
import { Housekeeping } from '../../pods/housekeeping/index.ts';
import { ObservedPods, Pleg, type HintStream } from '../../pods/pleg/index.ts';
import {
  nodeHookRequests,
  PodRuntime,
  prepareContainer,
  RestartBackoff,
  StartErrors,
  type HookRequests,
  type LastWordsFiles,
  type PodEvents,
} from '../../pods/runtime/index.ts';
import { createProber, lastKnownIn, ProbeManager, probeMetrics, type Prober } from '../../pods/probes/index.ts';
import { PodSources } from '../../pods/sources/index.ts';
import { PodStatuses, StatusPublisher } from '../../pods/status/index.ts';
import { PodSync, type Cgroups } from '../../pods/sync/index.ts';
import { UserNamespaces } from '../../pods/userns/index.ts';
import { PodWorkers } from '../../pods/worker/index.ts';
import type { TrustSource, VolumeHost } from '../../volumes/index.ts';
import { activeDeadlines } from './deadlines.ts';
import type { ImagePolicy } from './images.ts';
import { wireLogs, type LogKeeping } from './logs.ts';
import { podMetrics } from './pod-metrics.ts';
import type { UserNamespacePolicy } from './user-namespaces.ts';
import { imagesOfVolumes, wireVolumes, type VolumeTokens } from './volumes.ts';
import { withLastWords } from './with-last-words.ts';

export interface PodMachineDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly cri: Omit<Cri, 'close' | 'endpoint'>;
  readonly files: Files;
  readonly cgroups: Cgroups;
  readonly events: PodEvents;
  readonly settings: RuntimeSettings;
  readonly node: NodeFacts;
  /** The node as admission sees it, now. */
  readonly admissionNode: () => AdmissionNode;
  readonly hostIps: () => readonly string[];
  readonly hostDns: () => Promise<HostDns>;
  readonly runtimeName: () => string;
  /** The ways of running a sandbox that the runtime announces, by name. */
  readonly runtimeHandlers?: () => ReadonlySet<string>;
  /** Whether sandboxes of that handler can have mounts that are read-only with all below them; none can unless told. */
  readonly recursiveReadOnly?: (handler: string) => boolean;
  /** Why pods cannot have a network of their own now; they can unless told. */
  readonly networkError?: () => string | undefined;
  /** Where pods' own users come from; without it no pod can have any. */
  readonly userNamespaces?: UserNamespacePolicy;
  /** The sources that must have spoken before anything is cleaned up. */
  readonly sources: readonly PodSource[];
  readonly resyncMs: number;
  readonly parallelPulls: number;
  /** Credentials, rates and records of pulls; none unless told. */
  readonly imagePolicy?: ImagePolicy;
  /** How fast containers that crash come back; 10 s doubling to 5 min unless told. */
  readonly restartLimits?: BackoffLimits;
  /** Where containers leave their last words; without it the runtime's own message is all there is. */
  readonly lastWords?: LastWordsFiles;
  /** Sends the requests of httpGet hooks; from this machine unless told. */
  readonly hookRequests?: HookRequests;
  /** Carries out probes; from this machine unless told. */
  readonly prober?: Prober;
  /** The machine as far as volumes need it. */
  readonly volumeHost: VolumeHost;
  /** Tokens of service accounts for volumes; none can be had unless told. */
  readonly tokens?: VolumeTokens;
  readonly trust?: TrustSource;
  /** The services that pods are told of in their environment; none unless told, unknown while not yet read. */
  readonly services?: () => readonly ServiceObject[] | undefined;
  /** ConfigMaps and Secrets of the API server; those of the manifests folder unless told. */
  readonly objects?: PodObjects;
  /** RuntimeClasses of the API server; without them a class is a handler of that name. */
  readonly runtimeClasses?: RuntimeClasses;
  /** A pod moved on in its life on this node. */
  readonly onLifeChange?: (uid: PodUid) => void;
  /** Rotation of and links to logs; neither without it. */
  readonly logs?: LogKeeping;
  /** How many dead containers are kept; one of each name unless told. */
  readonly gcPolicy?: GcPolicy;
  /** Streams of hints beside the runtime's own, used where it has none. */
  readonly otherHints?: readonly HintStream[];
  readonly metrics?: Metrics;
  /** The page of its own that probes are measured on. */
  readonly probeMetrics?: Metrics;
  readonly onStatus?: (uid: PodUid, status: PodStatus) => void;
  /** Nothing is left of a pod: its status is forgotten too. */
  readonly onGone?: (uid: PodUid) => void;
}

/** Where pods' ConfigMaps and Secrets come from. */
export interface PodObjects extends Pick<StandaloneObjects, 'configMap' | 'secret'> {
  ready(pod: DesiredPod, signal: AbortSignal): Promise<void>;
  problem(kind: 'ConfigMap' | 'Secret', namespace: string, name: string): string | undefined;
  release(uid: PodUid): void;
}

/** Everything between "a source has a set of pods" and "the runtime runs them". */
export interface PodMachine {
  /** In the order in which they start. */
  readonly components: readonly Component[];
  /** Takes the full set of one source. */
  set(source: PodSource, pods: readonly DesiredPod[]): void;
  /** Takes the ConfigMaps and Secrets of the manifests folder. */
  setObjects(objects: Parameters<StandaloneObjects['set']>[0]): void;
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
  const errors = new StartErrors();

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
  const objects = new StandaloneObjects({
    log,
    onChange: (changed) => dispatch.handle({ type: 'resourcesChanged', uids: referrers(changed, desired.all()) }),
  });
  const named = deps.objects ?? objects;
  const lookup = {
    configMap: (namespace: string, name: string) => named.configMap(namespace, name),
    secret: (namespace: string, name: string) => named.secret(namespace, name),
    problem: (kind: 'ConfigMap' | 'Secret', namespace: string, name: string) =>
      deps.objects?.problem(kind, namespace, name),
    services: deps.services ?? (() => []),
  };
  const images = new ImageManager({
    clock,
    service: cri,
    events,
    parallelPulls: deps.parallelPulls,
    ...deps.imagePolicy?.extras(lookup),
  });
  const { volumes, subPaths } = wireVolumes({
    clock,
    random,
    log,
    host: deps.volumeHost,
    paths,
    settings,
    node,
    hostIps,
    objects: lookup,
    events,
    images: imagesOfVolumes(images),
    ...(deps.tokens && { tokens: deps.tokens }),
    ...(deps.trust && { trust: deps.trust }),
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
    ...(deps.objects && { objects: deps.objects }),
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
    syncer,
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
    onUpdate: (update) => dispatch.handle({ type: 'configChanged', update }),
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
    probes.removePod(uid);
    deps.objects?.release(uid);
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
    ...(deps.otherHints && { otherHints: deps.otherHints }),
    ...measured,
    onChange: (uid) => dispatch.handle({ type: 'observedChanged', uid }),
  });

  if (deps.metrics !== undefined) {
    const { metrics } = deps;
    podMetrics({ metrics, desired: () => desired.all(), workers, listed: () => observed.listed() });
  }

  return {
    components: [
      ...(deps.imagePolicy?.records ? [deps.imagePolicy.records] : []),
      // What pods were given before is known before a worker asks for more.
      ...(userNamespaces ? [userNamespaces] : []),
      volumes,
      pleg,
      probes,
      workers,
      housekeeping,
      ...logs.components,
    ],
    set: (source, pods) => sources.set(source, pods),
    setObjects: (told) => objects.set(told),
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
  };
}
