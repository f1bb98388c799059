import type { Component } from '../base/component.ts';
import type { PodFullName, PodUid } from '../base/ids.ts';
import type { Pod } from '../gen/kubernetes/types.ts';
import { podObject } from '../model/desired-pod.ts';
import type { ObservedPod } from '../model/observed-pod.ts';
import type { Termination } from '../model/sync-outcome.ts';
import { activeDeadlines, Admission, PodGate } from './admission/index.ts';
import { createPodRuntime, type PodRuntimeComponents } from './create-pod-runtime.ts';
import type { PodSignals } from './create-signals.ts';
import type { PodStores } from './create-stores.ts';
import { Housekeeping, type StuckPod } from './housekeeping/index.ts';
import { podMetrics } from './pod-metrics.ts';
import type { PodParts } from './create-parts.ts';
import { StatusPublisher } from './status/index.ts';
import { SyncLoop } from './sync-loop/index.ts';
import { PodSync } from './sync/index.ts';
import { PodWorkers, tracedSyncer } from './worker/index.ts';

/** What other subsystems may ask of the pods, and how they end one. */
export interface PodViews {
  /** The desired pods as API objects, with the status the agent sees. */
  pods(): readonly Pod[];
  /** Every pod of which the runtime has anything, as last observed. */
  observed(): readonly ObservedPod[];
  /** Nothing of the pod is left on this node, or it was never admitted. */
  isTerminatedOrRejected(uid: PodUid): boolean;
  /** A static pod of that name has not finished. */
  isNameTaken(fullName: PodFullName): boolean;
  /** Ends a pod that its source still names. */
  terminate(uid: PodUid, how: Partial<Termination>): void;
  /** What is wrong with what the agent knows of the runtime. */
  readonly pleg: { unhealthy(): string | undefined };
  /** When the last relist that succeeded began, on the monotonic clock. */
  lastRelist(): number | undefined;
  /** What could not be removed of finished pods, and why. */
  stuck(): readonly StuckPod[];
}

interface Pods {
  /** In the order in which they start. */
  readonly components: readonly Component[];
  readonly views: PodViews;
}

/** Everything between "a source names a pod" and "the runtime runs it". */
export function createPods(signals: PodSignals, stores: PodStores, parts: PodParts): Pods {
  const { ports, settings, node, objects, volumes, cgroups } = parts;
  const { inbox, podRemoval, cleanupDue, lifecycleChanged } = signals;
  const { sources, desired, observed, lifecycles, statuses, activePods, mirrors } = stores;
  const acting = createPodRuntime(signals, stores, parts);
  const { directories, pleg, probes, runtime } = acting;

  const publisher = createPublisher(stores, parts, acting);
  const podSync = new PodSync({
    ...ports,
    observed,
    runtime,
    volumes,
    directories,
    objects,
    cgroups,
    statuses: publisher,
    deadlines: activeDeadlines(ports.clock),
    probes,
  });
  const workers = new PodWorkers({
    ...ports,
    lifecycles,
    syncer: tracedSyncer(podSync, ports.tracer),
    resyncMs: settings.resyncMs,
    onChange: (uid) => {
      cleanupDue.mark();
      lifecycleChanged.broadcast(uid);
    },
    onPodRecreated: (pod) => inbox.configChanged({ op: 'add', source: pod.source, pods: [pod] }),
  });
  const gate = new PodGate({
    ...ports,
    admission: new Admission({
      ...ports,
      node: node.forAdmission,
      running: { hasContainers: (uid) => observed.listed().has(uid) },
    }),
    activePods,
    statuses,
    terminate: (uid, how) => workers.terminate(uid, how),
  });
  const housekeeping = new Housekeeping({
    ...ports,
    sourcesReady: () => sources.sourcesReady(),
    isDesired: (uid) => desired.has(uid),
    lifecycles,
    workers,
    observed,
    remover: runtime,
    directories,
    remembered: () => statuses.all().keys(),
    podRemoval,
  });
  const syncLoop = new SyncLoop({ ...ports, desired, gate, lifecycles, workers, podRemoval, cleanupDue });

  podRemoval.register('admission', gate);
  podRemoval.register('pod-sync', podSync);
  podRemoval.register('status-publisher', publisher);
  podRemoval.registerSelfEnding('pod-workers', workers);
  podRemoval.registerSelfEnding('housekeeping', housekeeping);
  cleanupDue.takenBy(() => housekeeping.wake());
  inbox.setHandler((message) => syncLoop.handle(message));
  podMetrics({ metrics: ports.metrics, desired, activePods, lifecycles, observed, mirrors });

  return {
    components: [
      // Recorded ids are read before a worker asks for new ones.
      acting.userNamespaces,
      pleg,
      probes,
      workers,
      housekeeping,
      ...acting.logComponents,
    ],
    views: {
      pods: () => desired.all().map((pod) => podObject(pod, statuses.get(pod.uid))),
      observed: () => [...observed.listed().keys()].flatMap((uid) => observed.get(uid) ?? []),
      isTerminatedOrRejected: (uid) => lifecycles.isFinished(uid) || gate.isRejected(uid),
      isNameTaken: (fullName) => workers.isNameTaken(fullName),
      terminate: (uid, how) => workers.terminate(uid, how),
      pleg,
      lastRelist: () => pleg.lastRelist(),
      stuck: () => housekeeping.stuck(),
    },
  };
}

function createPublisher(
  { statuses, allocations }: PodStores,
  { ports, settings, runtime, node }: PodParts,
  { probes, startErrors, recursiveReadOnly }: PodRuntimeComponents,
): StatusPublisher {
  const { featureGates } = settings.runtime;
  return new StatusPublisher({
    ...ports,
    statuses,
    probes: probes.results,
    resizeRefusal: (uid) => allocations.refusal(uid),
    startErrors: (uid) => startErrors.of(uid),
    hostIps: node.ips,
    runtimeName: () => runtime.name(),
    recursiveReadOnly,
    features: {
      ownRestartRules: featureGates('ContainerRestartRules'),
      stopSignals: featureGates('ContainerStopSignals'),
      users: featureGates('SupplementalGroupsPolicy'),
    },
  });
}
