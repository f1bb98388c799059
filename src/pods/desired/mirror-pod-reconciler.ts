import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, messageOf } from '../../base/errors.ts';
import type { PodFullName, PodUid } from '../../base/ids.ts';
import { KeyedWork, type WorkQueueMetrics } from '../../base/keyed-work.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import type { ApiWriter } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { fullNameFields, podFields, type PodFields } from '../../model/pod-log.ts';
import { computeMirrorAction, type NodeIdentity } from './compute-mirror.ts';
import type { MirrorPods } from './mirror-pods.ts';

interface MirrorPodReconcilerDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly api: Pick<ApiWriter, 'create' | 'delete'>;
  readonly mirrors: MirrorPods;
  readonly node: () => NodeIdentity | undefined;
  readonly sourcesReady: () => boolean;
  /** Whether the agent knows that the pod has not ended. */
  readonly hasNotEnded: (uid: PodUid) => boolean;
  /** Whether a life of the pod has ended and another is to begin. */
  readonly isBetweenLives: (uid: PodUid) => boolean;
  /** The static pods that a source names and that may run now. */
  readonly staticPods: () => readonly DesiredPod[];
  /** Whether a static pod of that name has not finished. */
  readonly isNameTaken: (fullName: PodFullName) => boolean;
  readonly watch?: WorkQueueMetrics | undefined;
}

const parallel = 4;
/** A webhook that changes each mirror pod we create must not make us delete and create them without a pause. */
const recreateAfterMs = 10_000;

/** Creates and deletes mirror pods, so that each static pod has exactly one in the API server. */
export class MirrorPodReconciler implements Component {
  readonly name = 'mirror-pod-reconciler';
  readonly #deps: MirrorPodReconcilerDeps;
  readonly #work: KeyedWork<PodFullName>;
  /** The pod of which a mirror pod was created last under a name, and when. */
  readonly #lastCreated = new Map<PodFullName, { readonly uid: PodUid; readonly atMs: number }>();

  constructor(deps: MirrorPodReconcilerDeps) {
    const { clock, random, log } = deps;
    this.#deps = deps;
    this.#work = new KeyedWork({
      name: this.name,
      clock,
      random,
      parallel,
      watch: deps.watch,
      work: (fullName, signal) => this.#reconcile(fullName, signal),
      onError: (fullName, error, retryMs) =>
        log.error(error, 'Cannot reconcile a mirror pod', {
          ...this.#podFieldsOf(fullName),
          retryInMs: Math.round(retryMs),
        }),
    });
  }

  async start(): Promise<void> {
    await this.#work.start();
    this.wakeAll();
  }

  async stop(): Promise<void> {
    await this.#work.stop();
  }

  wake(fullName: PodFullName): void {
    this.#work.wake(fullName);
  }

  /** Reconciles all mirror pods: the node became known, a source was read, or pods came or ended. */
  wakeAll(): void {
    const { mirrors, staticPods } = this.#deps;
    for (const name of new Set([...mirrors.fullNames(), ...staticPods().map((pod) => pod.fullName)])) this.wake(name);
  }

  async #reconcile(fullName: PodFullName, signal: AbortSignal): Promise<number | void> {
    const { clock, log, mirrors, node, sourcesReady, hasNotEnded, isBetweenLives, staticPods, isNameTaken } =
      this.#deps;
    const mirror = mirrors.get(fullName);
    const pod = staticPods().find((candidate) => candidate.fullName === fullName);
    const action = computeMirrorAction({
      pod,
      mirror,
      hasNotEnded: pod !== undefined && hasNotEnded(pod.uid),
      isBetweenLives: pod !== undefined && isBetweenLives(pod.uid),
      node: node(),
      isNameTaken: isNameTaken(fullName),
      sourcesReady: sourcesReady(),
    });
    if (pod === undefined) this.#lastCreated.delete(fullName);
    if (action === undefined) return undefined;
    const requeueAfterMs = this.#requeueAfterMs(pod, mirror);
    if (requeueAfterMs > 0) return requeueAfterMs;
    if (action.remove !== undefined && mirror !== undefined) {
      log.info('Deleting a mirror pod', { ...this.#podFieldsOf(fullName), reason: action.reason });
      await this.#remove(mirror, action.remove, signal);
    }
    if (action.create !== undefined) {
      log.info('Creating a mirror pod', { ...this.#podFieldsOf(fullName), reason: action.reason });
      await this.#create(fullName, action.create, signal);
      if (pod !== undefined) this.#lastCreated.set(fullName, { uid: pod.uid, atMs: clock.monotonic() });
    }
    return undefined;
  }

  /** Log fields of the static pod; of the mirror pod where the static pod has been removed. */
  #podFieldsOf(fullName: PodFullName): PodFields {
    const pod = this.#deps.staticPods().find((candidate) => candidate.fullName === fullName);
    const known = pod ?? this.#deps.mirrors.get(fullName)?.metadata;
    return known === undefined ? fullNameFields(fullName) : podFields(known);
  }

  /** How long to wait before a mirror pod that was created of this very pod and does not show it is created again. */
  #requeueAfterMs(pod: DesiredPod | undefined, mirror: Pod | undefined): number {
    if (pod === undefined || mirror === undefined || mirror.metadata?.deletionTimestamp !== undefined) return 0;
    const lastCreated = this.#lastCreated.get(pod.fullName);
    return lastCreated?.uid === pod.uid ? lastCreated.atMs + recreateAfterMs - this.#deps.clock.monotonic() : 0;
  }

  async #remove({ metadata }: Pod, uid: string, signal: AbortSignal): Promise<void> {
    const ref = { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
    try {
      await this.#deps.api.delete(apiResources.pods, ref, { gracePeriodSeconds: 0, uid, signal });
    } catch (error) {
      // It was deleted, or replaced by another of its name: the watch will report that.
      if (!isKind(error, 'notFound', 'conflict')) throw error;
    }
  }

  async #create(fullName: PodFullName, mirror: Pod, signal: AbortSignal): Promise<void> {
    try {
      await this.#deps.api.create(apiResources.pods, mirror.metadata?.namespace, mirror, { signal });
    } catch (error) {
      // The watch will report the one that exists, and it is compared then.
      if (!isKind(error, 'alreadyExists')) throw error;
      this.#deps.log.debug(4, 'A mirror pod exists already', { ...this.#podFieldsOf(fullName), err: messageOf(error) });
    }
  }
}
