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
import { createProber, lastKnownIn, ProbeManager, type Prober } from '../../pods/probes/index.ts';
import { PodSources } from '../../pods/sources/index.ts';
import { PodStatuses, StatusPublisher } from '../../pods/status/index.ts';
import { PodSync } from '../../pods/sync/index.ts';
import { PodWorkers } from '../../pods/worker/index.ts';
import { emptyDir, hostPath, VolumeManager, type VolumePlugin } from '../../volumes/index.ts';
import { activeDeadlines } from './deadlines.ts';
import type { ImagePolicy } from './images.ts';
import { wireLogs, type LogKeeping } from './logs.ts';
import { withLastWords } from './with-last-words.ts';

export interface PodMachineDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly cri: Omit<Cri, 'close' | 'endpoint'>;
  readonly files: Files;
  readonly cgroups: { remove(uid: PodUid): Promise<void> };
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
  /** Kinds of volumes besides emptyDir and hostPath. */
  readonly volumePlugins?: readonly VolumePlugin[];
  /** The services that pods are told of in their environment; none unless told. */
  readonly services?: () => readonly ServiceObject[];
  /** Rotation of and links to logs; neither without it. */
  readonly logs?: LogKeeping;
  /** How many dead containers are kept; one of each name unless told. */
  readonly gcPolicy?: GcPolicy;
  /** Streams of hints beside the runtime's own, used where it has none. */
  readonly otherHints?: readonly HintStream[];
  readonly metrics?: Metrics;
  readonly onStatus?: (uid: PodUid, status: PodStatus) => void;
  /** Nothing is left of a pod: its status is forgotten too. */
  readonly onGone?: (uid: PodUid) => void;
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
  readonly desired: DesiredPods;
  readonly workers: PodWorkers;
  readonly statuses: PodStatuses;
  readonly pleg: Pleg;
}

const relistPeriodMs = 1_000;

export function wirePodMachine(deps: PodMachineDeps): PodMachine {
  const { clock, random, log, cri, files, events, settings, node, hostIps } = deps;
  const paths = podPaths(settings.rootDir, settings.podLogsDir);

  // Stores.
  const desired = new DesiredPods();
  const observed = new ObservedPods({ runtime: deps.lastWords ? withLastWords(cri, deps.lastWords, log) : cri });
  const statuses = new PodStatuses((uid, status) => {
    logs.changed(uid);
    deps.onStatus?.(uid, status);
  });
  const errors = new StartErrors();

  // Actors.
  const directories = new PodDirectories({ files, random, paths });
  const volumes = new VolumeManager({ plugins: [emptyDir(files, paths), hostPath(), ...(deps.volumePlugins ?? [])] });
  const objects = new StandaloneObjects({
    log,
    onChange: (changed) => dispatch.handle({ type: 'resourcesChanged', uids: referrers(changed, desired.all()) }),
  });
  const lookup = {
    configMap: (namespace: string, name: string) => objects.configMap(namespace, name),
    secret: (namespace: string, name: string) => objects.secret(namespace, name),
    services: deps.services ?? (() => []),
  };
  const images = new ImageManager({
    clock,
    service: cri,
    events,
    parallelPulls: deps.parallelPulls,
    ...deps.imagePolicy?.extras(lookup),
  });
  const prepare = prepareContainer({ images, volumes, files: directories, lookup, settings, node, hostIps });
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
    toldOfEnds: () => pleg.streamHealthy(),
  });
  const publisher = new StatusPublisher({
    clock,
    log,
    statuses,
    probes: probes.results,
    startErrors: (uid) => errors.of(uid),
    hostIps,
    runtimeName: deps.runtimeName,
  });
  const syncer = new PodSync({
    log,
    observed,
    runtime,
    volumes,
    directories,
    cgroups: deps.cgroups,
    statuses: publisher,
    events,
    deadlines: activeDeadlines(clock),
    probes,
  });

  // Loops. Each announces to the dispatch below, which exists before any of them starts.
  const announce = (): void => housekeeping.wake();
  const workers = new PodWorkers({
    clock,
    random,
    log,
    syncer,
    resyncMs: deps.resyncMs,
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
    ...(deps.metrics && { metrics: deps.metrics }),
    onChange: (uid) => dispatch.handle({ type: 'observedChanged', uid }),
  });

  return {
    components: [
      ...(deps.imagePolicy?.records ? [deps.imagePolicy.records] : []),
      pleg,
      probes,
      workers,
      housekeeping,
      ...logs.components,
    ],
    set: (source, pods) => sources.set(source, pods),
    setObjects: (told) => objects.set(told),
    pods: () => desired.all().map((pod) => podObject(pod, statuses.get(pod.uid))),
    desired,
    workers,
    statuses,
    pleg,
  };
}
