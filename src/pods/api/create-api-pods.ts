import { Broadcaster } from '../../base/broadcaster.ts';
import type { CommonPorts } from '../../model/common-ports.ts';
import type { Component } from '../../base/component.ts';
import type { WorkQueueMetrics } from '../../base/keyed-work.ts';
import type { PodFullName, PodUid } from '../../base/ids.ts';
import type { Node, Pod } from '../../gen/kubernetes/types.ts';
import type { ApiWriter, WatchedMirror } from '../../model/api-client.ts';
import { isStatic, type DesiredPod, type PodSource } from '../../model/desired-pod.ts';
import type { PodSignals } from '../create-signals.ts';
import type { PodStores } from '../create-stores.ts';
import { MirrorPodReconciler, nodeIdentity } from '../desired/index.ts';
import { ApiSource, StaticPodHold } from '../sources/index.ts';
import { StatusWriter } from '../status/index.ts';
import { ApiPodChanges } from './api-pod-changes.ts';
import { copyOf } from './copy-of.ts';
import { FirstStatuses } from './first-statuses.ts';
import { ReportedLives } from './reported-lives.ts';

interface ApiPodsParts {
  readonly ports: CommonPorts;
  readonly signals: PodSignals;
  readonly stores: PodStores;
  readonly api: ApiWriter;
  /** The pods bound to this node. */
  readonly pods: WatchedMirror<Pod>;
  readonly node: WatchedMirror<Node>;
  readonly nodeName: string;
  /** Measures queues of work. */
  readonly workqueues: WorkQueueMetrics;
  readonly views: {
    isTerminatedOrRejected(uid: PodUid): boolean;
    isNameTaken(fullName: PodFullName): boolean;
  };
}

interface ApiPods {
  /** In the order in which they start, after the components of `createPods`. */
  readonly components: readonly Component[];
  /** Whether the API server has the newest status of a pod. */
  readonly hasStatus: (uid: PodUid) => boolean;
  /** Takes the sets of static pods and holds them for their mirror pods, two seconds at most. It starts last. */
  readonly staticPods: Component & { set(source: PodSource, pods: readonly DesiredPod[]): void };
}

/** Reads pods from the API server, and writes statuses and mirror pods to it. */
export function createApiPods({ ports, signals, stores, api, pods, node, ...parts }: ApiPodsParts): ApiPods {
  const { sources, desired, lifecycles, observed, statuses, starts, mirrors } = stores;
  const { metrics } = ports;
  const { views, nodeName, workqueues: watch } = parts;
  const reported = new ReportedLives({ statuses, lifecycles });
  const mirrorsListed = new Broadcaster<readonly Pod[]>();
  const reconciler = new MirrorPodReconciler({
    ...ports,
    api,
    mirrors,
    watch,
    // Until the pods are listed it is not known which mirror pods there are.
    node: () => (pods.synced() ? nodeIdentity(node.get({ name: nodeName })) : undefined),
    sourcesReady: () => sources.sourcesReady(),
    hasNotEnded: (uid) => reported.hasNotEnded(uid),
    isBetweenLives: (uid) => reported.isBetweenLives(uid),
    // A static pod that waits for an older one of its full name gets its mirror pod when it may run.
    staticPods: () => desired.all().filter((pod) => isStatic(pod) && !lifecycles.isWaiting(pod.uid)),
    isNameTaken: (fullName) => views.isNameTaken(fullName),
  });
  const latency = metrics.histogram({
    name: 'kubelet_pod_status_sync_duration_seconds',
    help: 'How long a changed pod status waited until the API server had it, in seconds.',
    stability: 'ALPHA',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
  });
  const writer = new StatusWriter({
    ...ports,
    api,
    watch,
    desired: (uid) => desired.get(uid),
    status: (uid) => reported.statusOf(uid),
    copyOf: (pod) => copyOf(pod, pods, mirrors),
    mayDelete: (uid) => views.isTerminatedOrRejected(uid),
    observe: (seconds) => latency.observe(seconds),
  });
  const first = new FirstStatuses({
    desired,
    statuses,
    mirrors,
    isAbsent: (uid) => observed.hasBeenListed() && !observed.listed().has(uid),
    runs: (uid) => observed.runs(uid),
  });
  const hold = new StaticPodHold({
    ...ports,
    runs: (uid) => observed.runs(uid),
    onSet: (from, set) => {
      first.applyToStaticPods(from, set);
      sources.set(from, set);
    },
  });
  const source = new ApiSource({
    ...ports,
    pods,
    nodeKnown: () => node.synced(),
    onSet: (from, set) => {
      first.applyToApiPods(set);
      sources.set(from, set);
    },
    onMirrors: (present) => mirrorsListed.broadcast(present),
  });
  const changes = new ApiPodChanges({ pods, source, mirrors, hold, writer, reconciler, starts, desired });
  mirrorsListed.listen((present) => changes.mirrorsListed(present));
  pods.listen((change) => changes.podsChanged(change));
  node.listen(() => changes.nodeChanged());
  signals.statusChanged.listen((uid) => changes.statusChanged(uid));
  signals.lifecycleChanged.listen((uid) => changes.lifecycleChanged(uid));
  signals.podRemoval.register('status-writer', writer);
  return { components: [writer, reconciler, pods], staticPods: hold, hasStatus: (uid) => writer.isWritten(uid) };
}
