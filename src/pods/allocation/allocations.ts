import type { PodUid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import { desiredPod, isStatic, type DesiredPod } from '../../model/desired-pod.ts';
import { podFields } from '../../model/pod-log.ts';
import type { PodUpdate } from '../../model/pod-update.ts';
import { conditionReasons } from '../../model/reasons.ts';
import type { ResizeRefusal } from '../../model/refusal.ts';
import { allocationOf, needsResize, restoredAllocation, withAllocation, type Allocation } from './compute-allocated.ts';

const staticPod = 'In-place resize of static-pods is not supported';
const notHere = 'In-place pod resize is not supported on this node';

interface KnownAllocation {
  readonly allocation: Allocation;
  readonly refusal: ResizeRefusal | undefined;
}

/** The resources allocated to each pod. */
export class Allocations {
  readonly #log: Log;
  readonly #known = new Map<PodUid, KnownAllocation>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** The pod with its allocated resources; those of its first spec are allocated. */
  allocate(pod: DesiredPod): DesiredPod {
    const known = this.#known.get(pod.uid);
    const allocation = known?.allocation ?? restoredAllocation(pod.spec, pod.status);
    const isRefused = needsResize(pod.spec, allocation);
    const refusal = isRefused ? refusalOf(pod) : undefined;
    const isNews = known?.refusal === undefined || known.refusal.generation !== refusal?.generation;
    if (refusal !== undefined && isNews) this.#logRefusal(pod, refusal);
    // Resources that cannot be resized, and containers that were added later, are as in the spec.
    const next = isRefused ? new Map([...allocationOf(pod.spec), ...allocation]) : allocationOf(pod.spec);
    this.#known.set(pod.uid, { allocation: next, refusal });
    if (!isRefused) return pod;
    const { metadata, spec, status } = pod;
    return desiredPod(pod.source, { metadata, spec: withAllocation(spec, next), status });
  }

  /** An update with the allocated resources of its pods; a removed pod loses its allocation. */
  update(update: PodUpdate): PodUpdate {
    if (update.op !== 'remove') return { ...update, pods: update.pods.map((pod) => this.allocate(pod)) };
    for (const { uid } of update.pods) this.forget(uid);
    return update;
  }

  refusal(uid: PodUid): ResizeRefusal | undefined {
    return this.#known.get(uid)?.refusal;
  }

  forget(uid: PodUid): void {
    this.#known.delete(uid);
  }

  size(): number {
    return this.#known.size;
  }

  #logRefusal(pod: DesiredPod, { reason, message }: ResizeRefusal): void {
    this.#log.info('Pod resize is not carried out', { ...podFields(pod), reason, message });
  }
}

function refusalOf(pod: DesiredPod): ResizeRefusal {
  const message = isStatic(pod) ? staticPod : notHere;
  return {
    reason: conditionReasons.resizeInfeasible,
    message,
    generation: isStatic(pod) ? undefined : pod.metadata.generation,
  };
}
