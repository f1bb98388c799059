import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Tracer } from '../../base/tracing.ts';
import { systemRandom } from '../../base/system-random.ts';
import type { Settings } from '../../config/index.ts';
import { containerdEvents } from '../../containerd/index.ts';
import type { Cri } from '../../cri/index.ts';
import {
  HostBlockDevices,
  hostFiles,
  mountPrograms,
  nodeLogFiles,
  outwardAddresses,
  volumeHostOn,
  type ForeignStorage,
  type Machine,
} from '../../host/index.ts';
import type { Decisions } from '../../model/decisions.ts';
import { parseResolvConf, type HostDns } from '../../model/dns.ts';
import type { PodRemoval } from '../../model/pod-removal.ts';
import { Quantity } from '../../model/quantity.ts';
import type { RuntimeSettings } from '../../model/runtime-settings.ts';
import type { NodeView } from '../../node/index.ts';
import type { RuntimeHealth } from '../../node/runtime-health/index.ts';
import { readLogTail } from '../../pods/logs/index.ts';
import { containerdHints } from '../../pods/pleg/index.ts';
import type { PodContainerManager } from '../../resources/create-cgroups.ts';
import type { StorageDrivers } from '../../volumes/create-storage-drivers.ts';
import { admissionNode } from './admission-node.ts';
import { podObjects } from './cluster-objects.ts';
import type { Cluster } from './cluster.ts';
import { hasSelinux } from './kernel-features.ts';
import type { LogKeeping } from './pod-machine-deps.ts';
import { wirePodCgroups } from './pod-cgroups.ts';
import { loggedEvents, recordedEvents } from './pod-events.ts';
import type { ImagePolicy } from './pod-machine-deps.ts';
import { wirePodMachine, type PodMachine } from './pod-machine.ts';
import { restartLimits } from './restart-limits.ts';
import { nodeFacts } from './runtime-settings.ts';
import { sourcesOf } from './sources.ts';
import { userNamespacePolicy } from './user-namespaces.ts';

export interface NodeMachineDeps {
  readonly settings: Settings;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly heartbeats: Heartbeats;
}

/** What is known once the runtime has answered. */
export interface RuntimeParts {
  readonly cri: Cri;
  readonly registry: Metrics;
  readonly probeRegistry: Metrics;
  readonly imagePolicy: ImagePolicy;
  readonly health: RuntimeHealth;
  readonly ours: RuntimeSettings;
  readonly cgroups: PodContainerManager;
  readonly podRemoval: PodRemoval;
  readonly runtimeName: string;
  readonly machine: Machine;
  /** This node as everybody sees it. */
  readonly node: NodeViews;
  readonly nodeEvents: NodeEvents;
  readonly decisions: Decisions;
  readonly removal: PodRemoval;
  readonly tracer?: Tracer | undefined;
  readonly drivers: StorageDrivers['drivers'];
  readonly storage: ForeignStorage;
  /** The volumes in use that somebody else attaches have changed. */
  readonly inUseChanged: () => void;
  readonly podRemoval: PodRemoval;
  /** Where there is an API server. */
  readonly cluster?: Cluster;
}

/** The pod machine on the real machine, with or without an API server. */
export function wireNodeMachine(
  { settings, nodeName, clock, log, heartbeats }: NodeMachineDeps,
  parts: RuntimeParts,
  onStatus: () => void,
): PodMachine {
  const { cri, health, cluster, machine, ours, view } = parts;
  const { config, flags } = settings;
  const hostIps = (): readonly string[] => {
    const known = view.hostIps();
    return known.length > 0 ? known : outwardAddresses();
  };
  const allocatable = (): Readonly<Record<string, string>> => ({ ...view.allocatable(), ...parts.devices });
  const admission = admissionNode({ settings, nodeName });
  const metrics = parts.registry;
  const random = systemRandom();
  const cgroups = wirePodCgroups({
    clock,
    random,
    log,
    heartbeats,
    metrics,
    settings,
    ours,
    machine,
    events,
    pods: () => pods,
  });
  const pods: PodMachine = wirePodMachine({
    clock,
    random,
    log,
    heartbeats,
    cri,
    files: hostFiles,
    volumeHost: volumeHostOn(parts.storage),
    mountPrograms: mountPrograms({ environment: process.env }),
    storage: {
      drivers: parts.drivers,
      files: hostFiles,
      devices: new HostBlockDevices(),
      hasSeLinux: hasSelinux(),
    },
    inUseChanged: parts.inUseChanged,
    lastWords: {
      readEnd: (path, bytes) => hostFiles.readEnd(path, bytes),
      readLogTail: async (path, limits) => (await readLogTail(path, limits, nodeLogFiles)).toString('utf8'),
    },
    cgroups: parts.cgroups,
    podRemoval: parts.podRemoval,
    events: cluster === undefined ? loggedEvents(log) : recordedEvents(log, cluster.recorder),
    decisions: parts.decisions,
    settings: ours,
    node: nodeFacts(machine, () => view.allocatable()),
    admissionNode: parts.node.admissionNode,
    hostIps: () => view.hostIps(),
    hostDns: () => readHostDns(config.resolvConf),
    runtimeName: () => parts.runtimeName,
    runtimeHandlers: () => health.handlers(),
    recursiveReadOnly: (handler) => health.handlerFeatures(handler)?.recursiveReadOnlyMounts === true,
    networkError: () => health.networkError(),
    podRemoval: parts.podRemoval,
    userNamespaces: userNamespacePolicy(settings, log),
    onStatus: (uid) => {
      onStatus();
      cluster?.onStatus(uid);
    },
    onGone: (uid: PodUid) => {
      // A status that is forgotten must not come back with the next start.
      onStatus();
      cluster?.onGone(uid);
      parts.removal.podRemoved(uid);
    },
    ...(cluster && {
      volumesCluster: { ...cluster.storage, nodeLabels: () => view.node()?.metadata?.labels },
      objects: podObjects(cluster),
      tokens: cluster.tokens,
      trust: cluster.trust,
      services: () => cluster.services(),
      runtimeClasses: cluster.runtimeClasses,
      mirrorPods: () => cluster.mirrorPods(),
      onLifeChange: (uid: PodUid) => cluster.onLifeChange(uid),
    }),
    logs: logKeeping(settings),
    gcPolicy: {
      minAgeMs: flags.minimumContainerTtlDuration.toMillis(),
      maxPerContainer: flags.maximumDeadContainersPerContainer,
      maxTotal: flags.maximumDeadContainers,
    },
    otherHints: [containerdHints(containerdEvents({ endpoint: cri.endpoint, clock, log }))],
    metrics,
    tracer: parts.tracer,
    probeMetrics: parts.probeRegistry,
    sources: sourcesOf(settings),
    restartLimits: restartLimits(settings),
    imagePolicy: parts.imagePolicy,
    resyncMs: config.syncFrequency.toMillis(),
  });
}

/** Log collectors look for links in one place only, and only for logs that are in their usual place too. */
function logKeeping({ config }: Settings): LogKeeping {
  const limits = {
    maxSize: Number(Quantity.parse(config.containerLogMaxSize).value()),
    maxFiles: config.containerLogMaxFiles,
    maxWorkers: config.containerLogMaxWorkers,
    monitorIntervalMs: config.containerLogMonitorInterval.toMillis(),
  };
  return {
    files: nodeLogFiles,
    limits,
    ...(config.podLogsDir === '/var/log/pods' && { linksDir: '/var/log/containers' }),
  };
}

/** No host resolver file means that pods must not use the host's: they get an address where nobody answers. */
async function readHostDns(path: string): Promise<HostDns> {
  if (path === '') return { servers: ['127.0.0.1'], searches: ['.'], options: [] };
  return parseResolvConf(await readFile(path, 'utf8'));
}
