import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { isKind, messageOf } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import { KeyedWork, type WorkQueueMetrics } from '../../base/keyed-work.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Pod, PodStatus } from '../../gen/kubernetes/types.ts';
import type { ApiWriter, ObjectRef } from '../../model/api-client.ts';
import { apiResources } from '../../model/api-resources.ts';
import { isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import { createStrategicMergePatch } from '../../model/strategic-merge-patch.ts';
import { composeApiStatus, newestCopy, withoutNulls, type LastAnswer } from './compose-api-status.ts';

interface StatusWriterDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly api: Pick<ApiWriter, 'patch' | 'delete'>;
  readonly desired: (uid: PodUid) => DesiredPod | undefined;
  readonly status: (uid: PodUid) => PodStatus | undefined;
  /** The object that shows the pod, as the watch has it: the pod's own, or a static pod's mirror. */
  readonly copyOf: (pod: DesiredPod) => Pod | undefined;
  /** Nothing of the pod is left on this node, or it was rejected. */
  readonly mayDelete: (uid: PodUid) => boolean;
  /** How long a status waited until the API server had it. */
  readonly observe: (seconds: number) => void;
  readonly watch?: WorkQueueMetrics | undefined;
}

/** The last write for one pod. */
interface WrittenStatus {
  readonly answer: LastAnswer;
  /** The agent's own status that was written. */
  readonly status: PodStatus;
}

const parallel = 10;
/** Against another writer, or a server that drops fields, the agent writes the same status again only this often. */
const rewriteMs = 10_000;

/**
 * Writes each pod's status to the API server, and deletes the pod there when it is being deleted and nothing of it is left
 * here. It compares with what the server has and sends only the difference, so it may be woken for any reason at any time.
 */
export class StatusWriter implements Component {
  readonly name = 'status-writer';
  readonly #deps: StatusWriterDeps;
  readonly #work: KeyedWork<PodUid>;
  readonly #written = new Map<PodUid, WrittenStatus>();
  readonly #deleted = new Map<PodUid, number>();
  readonly #since = new Map<PodUid, number>();

  constructor(deps: StatusWriterDeps) {
    const { clock, random, log } = deps;
    this.#deps = deps;
    this.#work = new KeyedWork({
      name: this.name,
      clock,
      random,
      parallel,
      watch: deps.watch,
      work: (uid, signal) => this.#write(uid, signal),
      onError: (uid, error, retryMs) =>
        log.warn('Failed to update status for pod', {
          ...podFields(deps.desired(uid) ?? { uid }),
          err: messageOf(error),
          retryInMs: Math.round(retryMs),
        }),
    });
  }

  async start(): Promise<void> {
    await this.#work.start();
  }

  async stop(): Promise<void> {
    await this.#work.stop();
  }

  /** The agent's own status of the pod changed. */
  changed(uid: PodUid): void {
    if (!this.#since.has(uid)) this.#since.set(uid, this.#deps.clock.monotonic());
    this.#work.wake(uid);
  }

  /** Something else about the pod did: its copy, its mirror, its end on this node. */
  wake(uid: PodUid): void {
    this.#work.wake(uid);
  }

  /** The API server is back. */
  retryAll(): void {
    this.#work.retryAll();
  }

  /** Whether the API server has the newest status of the pod; also where it has no object that could take one. */
  isWritten(uid: PodUid): boolean {
    const { desired, copyOf, status: statusOf } = this.#deps;
    const [pod, status] = [desired(uid), statusOf(uid)];
    const copy = pod && copyOf(pod);
    return copy === undefined || status === undefined || Object.keys(this.#difference(uid, copy, status)).length === 0;
  }

  /** How many entries are kept, of all pods. */
  size(): number {
    return this.#written.size + this.#deleted.size + this.#since.size;
  }

  forget(uid: PodUid): void {
    this.#written.delete(uid);
    this.#deleted.delete(uid);
    this.#since.delete(uid);
  }

  async #write(uid: PodUid, signal: AbortSignal): Promise<number | void> {
    const { desired, copyOf } = this.#deps;
    const pod = desired(uid);
    const copy = pod === undefined ? undefined : copyOf(pod);
    // Without a copy there is no object to write to: it was deleted, or the mirror pod is still to come and wakes the pod.
    if (pod === undefined || copy === undefined) return undefined;
    // Checked before the status is read: a pod that ends during the write has a last status, which wakes it again.
    const deletable = this.#isDeletable(pod, copy);
    const again = await this.#patchStatus(pod, copy, signal);
    return deletable ? this.#deleteObject(pod, copy, signal) : again;
  }

  /** Sends what differs; returns the delay until the next try where it must not be sent now. */
  async #patchStatus(pod: DesiredPod, copy: Pod, signal: AbortSignal): Promise<number | void> {
    const { uid } = pod;
    const { clock, api, status: statusOf, log, observe } = this.#deps;
    const status = statusOf(uid);
    if (status === undefined) return undefined;
    const before = this.#written.get(uid);
    const patch = this.#difference(uid, copy, status);
    if (Object.keys(patch).length === 0) {
      this.#since.delete(uid);
      return undefined;
    }
    // A mirror pod that was made again does not have the status yet.
    if (before?.status === status && before.answer.pod.metadata?.uid === copy.metadata?.uid) {
      const pausedMs = clock.monotonic() - before.answer.atMs;
      if (pausedMs < rewriteMs) return rewriteMs - pausedMs;
    }
    const since = this.#since.get(uid);
    this.#since.delete(uid);
    try {
      const answer = await api.patch<Pod>(
        apiResources.pods,
        refOf(copy),
        { metadata: { uid: copy.metadata?.uid }, ...patch },
        { type: 'strategic', subresource: 'status', signal },
      );
      this.#remember(this.#written, uid, { answer: { pod: answer, atMs: clock.monotonic() }, status });
      if (since !== undefined) observe((clock.monotonic() - since) / 1000);
      log.debug(3, 'Status for pod updated successfully', { ...podFields(pod), phase: status.phase });
    } catch (error) {
      if (since !== undefined && !this.#since.has(uid)) this.#remember(this.#since, uid, since);
      if (!isNotFoundOrConflict(error)) throw error;
      log.debug(3, 'Pod does not exist on the API server', { ...podFields(pod), err: messageOf(error) });
    }
    return undefined;
  }

  /** What the server's copy lacks of a status. */
  #difference(uid: PodUid, copy: Pod, status: PodStatus): ReturnType<typeof createStrategicMergePatch> {
    const base = withoutNulls(newestCopy(copy, this.#written.get(uid)?.answer, this.#deps.clock.monotonic()));
    const next = composeApiStatus(base.status ?? {}, status);
    return createStrategicMergePatch({ status: base.status ?? {} }, { status: next }, 'Pod');
  }

  #isDeletable(pod: DesiredPod, copy: Pod): boolean {
    return !isStatic(pod) && copy.metadata?.deletionTimestamp !== undefined && this.#deps.mayDelete(pod.uid);
  }

  /** A finalizer may keep the object for long, so the deletion is repeated only once per `rewriteMs`. */
  async #deleteObject(pod: DesiredPod, copy: Pod, signal: AbortSignal): Promise<number> {
    const { uid } = pod;
    const { clock, api, log } = this.#deps;
    const asked = this.#deleted.get(uid);
    const waitMs = asked === undefined ? 0 : rewriteMs - (clock.monotonic() - asked);
    if (waitMs > 0) return waitMs;
    try {
      await api.delete(apiResources.pods, refOf(copy), {
        gracePeriodSeconds: 0,
        uid: copy.metadata?.uid ?? '',
        signal,
      });
      log.debug(3, 'Pod fully terminated and removed from the API server', podFields(pod));
    } catch (error) {
      if (!isNotFoundOrConflict(error)) throw error;
    }
    this.#remember(this.#deleted, uid, clock.monotonic());
    return rewriteMs;
  }

  /** Keeps nothing for a pod that was forgotten while the answer was under way: `forget` would not be called again. */
  #remember<T>(of: Map<PodUid, T>, uid: PodUid, value: T): void {
    if (this.#deps.desired(uid) !== undefined) of.set(uid, value);
  }
}

/** The object was deleted, or another pod has its name. */
function isNotFoundOrConflict(error: unknown): boolean {
  return isKind(error, 'notFound', 'conflict');
}

function refOf({ metadata }: Pod): ObjectRef {
  return { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
}
