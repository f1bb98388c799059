import { EventRecorder } from '../../apiserver/events/index.ts';
import { Reflector, withoutManagedFields, type HttpApiClient } from '../../apiserver/index.ts';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { PodUid } from '../../base/ids.ts';
import type { WorkWatch } from '../../base/keyed-work.ts';
import type { Heartbeats } from '../../base/heartbeats.ts';
import type { Log } from '../../base/log.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Random } from '../../base/random.ts';
import type { CSIDriver, Node, Pod, RuntimeClass, Service } from '../../gen/kubernetes/types.ts';
import type { ApiObject } from '../../model/api-client.ts';
import { apiResources, type ApiResource } from '../../model/api-resources.ts';
import { isStatic } from '../../model/desired-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import { boundedPod, maxPodBytes } from '../../model/pod-size.ts';
import type { RuntimeClasses } from '../../model/runtime-class.ts';
import { boundedService } from '../../model/service-environment.ts';
import { type Objects } from '../../objects/index.ts';
import { MirrorKeeper, MirrorPods, type NodeIdentity } from '../../pods/desired/index.ts';
import { ApiSource, HeldSets } from '../../pods/sources/index.ts';
import { StatusWriter } from '../../pods/status/index.ts';
import { wireApiObjects } from './cluster-objects.ts';
import { wireTrustBundles } from './cluster-trust.ts';
import type { VolumesCluster } from '../../volumes/create-volumes.ts';
import type { PodMachine } from './pod-machine.ts';
import { workqueueMetrics } from './workqueue-metrics.ts';

export interface ClusterDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly heartbeats: Heartbeats;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly api: HttpApiClient;
  readonly nodeName: string;
  /** configMapAndSecretChangeDetectionStrategy. */
  readonly objectStrategy: string;
  /** The gate ClusterTrustBundleProjection. */
  readonly trustBundles: boolean;
  readonly signal: AbortSignal;
  readonly podRemoval: PodRemoval;
  /** The pods of this node; asked for only after `start`. */
  readonly machine: () => PodMachine;
}

/** The agent's side of an API server: what it reads there, and what it tells. */
export interface Cluster {
  readonly api: HttpApiClient;
  /** To be started before the others: they have something to tell from the beginning. */
  readonly recorder: EventRecorder;
  readonly node: Reflector<Node>;
  /** Takes the sets of static pods; starts last. */
  readonly statics: HeldSets;
  readonly objects: Objects;
  readonly runtimeClasses: RuntimeClasses;
  /** What is known of storage drivers and their volumes. */
  readonly storage: Omit<VolumesCluster, 'nodeLabels'>;
  /** Measures queues of work, those of others too. */
  readonly watch: WorkWatch;
  services(): readonly Service[] | undefined;
  /** How many mirrors of static pods the API server has. */
  mirrorPods(): number;
  onStatus(uid: PodUid): void;
  onLifeChange(uid: PodUid): void;
  onGone(uid: PodUid): void;
  /** In the order in which they start, after the pod machine: from here on pods come and go. */
  readonly components: readonly Component[];
}

/** Wires sources, mirrors, statuses and objects to an API server. It need not be there: everything waits and catches up. */
export function wireCluster(deps: ClusterDeps): Cluster {
  const { clock, random, log, heartbeats, metrics, api, nodeName, machine } = deps;
  const reflect = <T extends ApiObject>(
    resource: ApiResource,
    fieldSelector?: string,
    bound: (object: T, previous: T | undefined) => T = (object) => object,
  ): Reflector<T> =>
    new Reflector<T>({
      api,
      clock,
      random,
      log,
      heartbeats,
      resource,
      ...(fieldSelector !== undefined && { fieldSelector }),
      transform: (object, previous) => bound(withoutManagedFields(object), previous),
    });
  const node = reflect<Node>(apiResources.nodes, `metadata.name=${nodeName}`);
  const pods = reflect<Pod>(apiResources.pods, `spec.nodeName=${nodeName}`, (pod, previous) =>
    boundedPod(pod, previous, ({ metadata }) =>
      log.warn('An update that makes a pod too large is not taken', {
        ...podFields(metadata ?? {}),
        maxBytes: maxPodBytes,
      }),
    ),
  );
  const services = reflect<Service>(apiResources.services, 'spec.clusterIP!=None', boundedService);
  const classes = reflect<RuntimeClass>(apiResources.runtimeClasses);
  const drivers = reflect<CSIDriver>(apiResources.csiDrivers);

  const recorder = new EventRecorder({ clock, random, log, heartbeats, metrics, api, host: nodeName });
  const objects = wireApiObjects({
    clock,
    random,
    log,
    heartbeats,
    api,
    strategy: deps.objectStrategy,
    node: () => node.get({ name: nodeName }),
    signal: deps.signal,
    onChange: (uids) => machine().wake(uids),
  });
  const tokens = new PodTokens({ clock, random, log, api });
  const onChange = (uids: readonly PodUid[]): void => machine().wake(uids);
  const trust = deps.trustBundles ? wireTrustBundles({ ...deps, onChange }) : undefined;
  const storage: Cluster['storage'] = {
    api,
    node,
    drivers,
    claimEvents: { record: (about, event) => recorder.record({ about, ...event }) },
  };
  const mirrors = new MirrorPods();
  const watch = workqueueMetrics(metrics, clock);
  // Until the pods are listed nobody knows which mirrors there are.
  const keeper = wireMirrors({ ...deps, watch }, mirrors, () =>
    pods.synced() ? identityOf(node.get({ name: nodeName })) : undefined,
  );
  const latency = metrics.histogram({
    name: 'kubelet_pod_status_sync_duration_seconds',
    help: 'How long a changed pod status waited until the API server had it, in seconds.',
    stability: 'ALPHA',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20, 30, 45, 60],
  });
  const writer = new StatusWriter({
    clock,
    random,
    log,
    api,
    desired: (uid) => machine().desired.get(uid),
    status: (uid) => machine().statuses.get(uid),
    copyOf: (pod) => {
      if (isStatic(pod)) return mirrors.of(pod);
      const copy = pods.get({ namespace: pod.namespace, name: pod.name });
      return copy?.metadata?.uid === pod.uid ? copy : undefined;
    },
    mayDelete: (uid) => machine().views.isTerminatedOrRejected(uid),
    observe: (seconds) => latency.observe(seconds),
    watch,
  });

  const statics = new HeldSets({
    clock,
    runs: (uid) => machine().observed.runs(uid),
    onSet: (from, set) => {
      const { desired, statuses } = machine();
      // As with the pods of the API server: who was here last knows best.
      const told = mirrors.statusesOf(set.filter(({ uid }) => !desired.has(uid)));
      for (const [uid] of told) statuses.dropRestored(uid);
      statuses.restore(told);
      machine().set(from, set);
    },
  });
  const source = new ApiSource({
    log,
    pods,
    nodeKnown: () => node.synced(),
    onSet: (from, set) => {
      const { desired, statuses } = machine();
      // What the API server knows of containers is newer than a checkpoint: another agent may have been here since.
      const told = set.filter(({ uid, status }) => !desired.has(uid) && (status.containerStatuses ?? []).length > 0);
      for (const { uid } of told) statuses.dropRestored(uid);
      machine().set(from, set);
    },
    onMirrors: (present) => {
      for (const name of mirrors.set(present)) {
        keeper.wake(name);
        for (const { uid } of machine().desired.named(name)) writer.wake(uid);
      }
      statics.release();
    },
  });
  pods.listen((change) => {
    source.changed();
    if (change.type === 'replaced') {
      writer.retryAll();
      for (const { uid } of machine().desired.all()) writer.wake(uid);
      for (const pod of pods.all()) machine().starts.observed(pod);
      keeper.wakeAll();
      return;
    }
    const uid = change.object.metadata?.uid;
    if (uid === undefined) return;
    if (change.type === 'gone') return machine().starts.forget(uid as PodUid);
    machine().starts.observed(change.object);
    writer.wake(uid as PodUid);
  });
  node.listen(() => {
    source.changed();
    keeper.wakeAll();
  });

  return {
    recorder,
    node,
    statics,
    api,
    objects,
    storage,
    watch,
    runtimeClasses: { handlerOf: (name) => classes.get({ name })?.handler },
    services: () => (services.synced() ? services.all() : undefined),
    mirrorPods: () => mirrors.fullNames().length,
    onStatus: (uid) => writer.changed(uid),
    onLifeChange: (uid) => {
      writer.wake(uid);
      const pod = machine().desired.get(uid);
      if (pod === undefined || isStatic(pod)) keeper.wakeAll();
    },
    onGone: (uid) => writer.forget(uid),
    components: [...objects.components, services, classes, drivers, node, writer, keeper, pods],
  };
}

function wireMirrors(
  { clock, random, log, api, machine, watch }: ClusterDeps & Pick<Cluster, 'watch'>,
  mirrors: MirrorPods,
  node: () => NodeIdentity | undefined,
): MirrorKeeper {
  return new MirrorKeeper({
    clock,
    random,
    log,
    api,
    mirrors,
    node,
    watch,
    sourcesReady: () => machine().sources.allReady(),
    // One that waits for its predecessor to end is shown when its turn comes.
    shown: () => {
      const { desired, lifecycles } = machine();
      return desired.all().filter((pod) => isStatic(pod) && !lifecycles.isWaiting(pod.uid));
    },
    ending: (fullName) => machine().views.isNameTaken(fullName),
  });
}

function identityOf(node: Node | undefined): NodeIdentity | undefined {
  const { name, uid, deletionTimestamp } = node?.metadata ?? {};
  if (name === undefined || uid === undefined) return undefined;
  return { name, uid, deleting: deletionTimestamp !== undefined };
}
