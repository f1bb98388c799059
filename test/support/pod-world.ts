import { defaultBackoffLimits, type BackoffLimits } from '../../src/base/backoff.ts';
import { noCalls } from '../../src/base/calls.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { Component } from '../../src/base/component.ts';
import { TubeletError } from '../../src/base/errors.ts';
import type { Heartbeats } from '../../src/base/heartbeats.ts';
import type { PodUid } from '../../src/base/ids.ts';
import type { Log } from '../../src/base/log.ts';
import type { Random } from '../../src/base/random.ts';
import type { Cri } from '../../src/cri/index.ts';
import type { Pod, PodStatus } from '../../src/gen/kubernetes/types.ts';
import { createImages } from '../../src/images/create-images.ts';
import { objectsOfPods } from '../../src/main/agent/pod-objects.ts';
import { volumeSettings } from '../../src/main/agent/settings/volume-settings.ts';
import type { AgentSignals } from '../../src/main/agent/signals.ts';
import type { AdmissionNode } from '../../src/model/admission-node.ts';
import type { CommonPorts } from '../../src/model/common-ports.ts';
import type { Decisions } from '../../src/model/decisions.ts';
import type { DesiredPod, PodSource } from '../../src/model/desired-pod.ts';
import type { HostDns } from '../../src/model/dns.ts';
import type { PodEvent } from '../../src/model/object-event.ts';
import { podPaths } from '../../src/model/pod-paths.ts';
import type { NodeFacts, RuntimeSettings } from '../../src/model/runtime-settings.ts';
import { createObjects, type Objects } from '../../src/objects/create-objects.ts';
import type { LogPolicy } from '../../src/pods/create-logs.ts';
import type { PodHost, PodObjects } from '../../src/pods/create-parts.ts';
import { createPods, type PodViews } from '../../src/pods/create-pods.ts';
import { createPodStores, type PodStores } from '../../src/pods/create-stores.ts';
import type { Files } from '../../src/pods/directories/index.ts';
import { createProber } from '../../src/pods/probes/index.ts';
import { nodeHookRequests, type PodEvents } from '../../src/pods/runtime/index.ts';
import type { Cgroups } from '../../src/pods/sync/index.ts';
import { Registry } from '../../src/telemetry/index.ts';
import { createVolumes, type Volumes } from '../../src/volumes/create-volumes.ts';
import { noTokens, noTrust } from '../../src/volumes/index.ts';
import type { VolumesWiring } from '../../src/volumes/volumes-wiring.ts';
import { inertLogFiles, noStorage } from './pod-world-parts.ts';

/** What a world of pods on fakes is made of; what is optional has the obvious fake. */
export interface PodWorldDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
  readonly decisions: Decisions;
  readonly signals: AgentSignals;
  readonly cri: Omit<Cri, 'close' | 'endpoint'>;
  readonly files: Files;
  readonly cgroups: Cgroups;
  readonly events: PodEvents;
  readonly settings: RuntimeSettings;
  readonly node: NodeFacts;
  readonly admissionNode: () => AdmissionNode;
  readonly hostIps: () => readonly string[];
  readonly hostDns: () => Promise<HostDns>;
  readonly runtimeName: () => string;
  readonly sources: readonly PodSource[];
  readonly resyncMs: number;
  readonly volumeHost: VolumesWiring['machine']['host'];
  readonly mountPrograms: VolumesWiring['machine']['programs'];
  readonly tokens?: VolumesWiring['tokens'];
  readonly services?: PodObjects['lookup']['services'];
  readonly userNamespaces?: PodHost['userNamespaces'];
  readonly restartLimits?: BackoffLimits;
  readonly terminationMessages?: PodHost['terminationMessages'];
  readonly hookRequests?: PodHost['hookRequests'];
  readonly prober?: PodHost['prober'];
  readonly logFiles?: PodHost['logFiles'];
  readonly logs?: Partial<LogPolicy>;
  readonly metrics?: Registry;
  readonly onStatus?: (uid: PodUid, status: PodStatus) => void;
  /** Nothing of the pod is left on the node. */
  readonly onRemoved?: (uid: PodUid) => void;
}

export interface PodWorld extends PodStores {
  readonly signals: AgentSignals;
  readonly views: PodViews;
  readonly volumes: Volumes;
  /** In the order in which they start. */
  readonly components: readonly Component[];
  /** Takes the full set of one source. */
  set(source: PodSource, pods: readonly DesiredPod[]): void;
  setObjects: Objects['setManifestObjects'];
  pods(): readonly Pod[];
  record(uid: PodUid, event: PodEvent): void;
}

/** Pods with volumes, images and objects as the agent composes them, on the fakes of a world. */
export function createPodWorld(deps: PodWorldDeps): PodWorld {
  const { clock, random, log, heartbeats, decisions, signals, cri, files, settings, node, events } = deps;
  const { inbox, podRemoval } = signals;
  const metrics = deps.metrics ?? new Registry();
  const ports: CommonPorts = { clock, random, log, heartbeats, decisions, metrics, calls: noCalls };
  const paths = podPaths(settings.rootDir, settings.podLogsDir);
  const terminationMessages = deps.terminationMessages ?? {
    readEnd: async () => Promise.reject(new TubeletError('notFound', 'there is no message')),
    readLogTail: async () => '',
  };
  const stores = createPodStores({
    ports,
    signals,
    paths,
    events,
    runtime: cri,
    files,
    terminationMessages,
    sources: deps.sources,
  });
  const objects = createObjects({
    ports,
    settings: { changeDetectionStrategy: 'Watch', clusterTrustBundles: false },
    inbox,
    podRemoval,
    api: undefined,
  });
  const found = objectsOfPods(objects, undefined);
  const named = deps.services ? { ...found, lookup: { ...found.lookup, services: deps.services } } : found;
  const none = async (): Promise<never> => Promise.reject(new TubeletError('notFound', 'there is no such file'));
  const images = createImages({
    ports,
    signals,
    settings: {
      parallelPulls: 1,
      pullRate: { perSecond: 0, burst: 0 },
      nodeConfigPlaces: { rootDir: settings.rootDir, workingDir: '/', homeDir: '' },
      providerBinDir: '',
      pullRecords: undefined,
    },
    files: { readText: none, makeFolder: none, writeAtomic: none, list: none, removeTree: none },
    pluginRunner: { run: none },
    providers: undefined,
    service: cri,
    events,
    secrets: named.lookup,
    pullWaits: stores.starts,
  });
  const volumes = createVolumes({
    ports,
    signals: { ...signals, nodeStatusDue: signals.node.statusDue },
    settings: volumeSettings(settings, { kernelRelease: '6.1.0', hasSeLinux: noStorage.hasSeLinux }),
    machine: { host: deps.volumeHost, programs: deps.mountPrograms, ...noStorage },
    paths,
    node: { facts: node, hostIps: deps.hostIps },
    objects: named.lookup,
    images: images.volumeImages,
    tokens: deps.tokens ?? noTokens,
    trust: noTrust,
    events,
    drivers: noStorage.drivers,
    cluster: undefined,
  });
  const pods = createPods(signals, stores, {
    ports: { ...ports, events, tracer: undefined, probeMetrics: new Registry() },
    settings: {
      runtime: settings,
      resyncMs: deps.resyncMs,
      restartLimits: deps.restartLimits ?? defaultBackoffLimits,
      logs: {
        limits: { maxSize: 10 << 20, maxFiles: 5, maxWorkers: 1, monitorIntervalMs: 10_000 },
        podLogsDir: settings.podLogsDir,
        linksDir: undefined,
        deadContainers: { minAgeMs: 0, maxPerContainer: 1, maxTotal: -1 },
        ...deps.logs,
      },
    },
    runtime: {
      cri,
      name: deps.runtimeName,
      handlers: () => new Set(),
      recursiveReadOnly: () => false,
      networkError: () => undefined,
      eventSources: [],
    },
    host: {
      files,
      terminationMessages,
      logFiles: deps.logFiles ?? inertLogFiles,
      hookRequests: deps.hookRequests ?? nodeHookRequests,
      prober: deps.prober ?? createProber({ clock, runtime: cri }),
      dns: deps.hostDns,
      userNamespaces: deps.userNamespaces ?? {
        enabled: true,
        files: { list: async () => [], readText: none, replace: none },
        readSpace: async () => ({ problem: 'there are no ids to give' }),
      },
    },
    node: { facts: node, ips: deps.hostIps, forAdmission: deps.admissionNode },
    objects: named,
    images: images.images,
    volumes: volumes.volumes,
    subPaths: volumes.subPaths,
    cgroups: deps.cgroups,
  });
  const { onStatus, onRemoved } = deps;
  signals.statusChanged.listen((uid) => onStatus?.(uid, stores.statuses.get(uid) ?? {}));
  podRemoval.register('world', { forget: (uid) => onRemoved?.(uid), size: () => 0 });
  return {
    ...stores,
    signals,
    views: pods.views,
    volumes,
    components: [...images.components, ...volumes.components, ...pods.components],
    set: (source, set) => stores.sources.set(source, set),
    setObjects: (found) => objects.setManifestObjects(found),
    pods: () => pods.views.pods(),
    record: (uid, event) => {
      const pod = stores.desired.get(uid);
      if (pod !== undefined) events.record(pod, event);
    },
  };
}
