import type { Clock } from '../../base/clock.ts';
import { podUid, type PodUid } from '../../base/ids.ts';
import type { Gauge, Histogram, Metrics } from '../../base/metrics.ts';
import type { Pod } from '../../gen/kubernetes/types.ts';
import { configAnnotations } from '../../model/annotations.ts';
import { isTerminalPhase } from '../../model/reasons.ts';

interface PodStartsDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly metrics: Metrics;
}

/** In seconds; a start may wait long for its images. */
export const startBuckets: readonly number[] = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];

/** Wall times in milliseconds. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** The pulls of a pod whose start is being measured. */
interface Starting {
  pullBegan?: number;
  pullEnded?: number;
}

/**
 * Measures how long pods of the API server take from being made to running, as its clients see it. Only pods that this
 * agent saw before they had begun count; mirrors do not, since what they show began before they were made.
 *
 *   seen without a start ──> starting ──all containers run, and the watch shows it──> measured, forgotten
 */
export class PodStarts {
  readonly #clock: PodStartsDeps['clock'];
  readonly #starting = new Map<PodUid, Starting>();
  readonly #sli: Histogram;
  readonly #total: Histogram;
  readonly #first: Gauge;
  #hasNetworkPod = false;

  constructor({ clock, metrics }: PodStartsDeps) {
    this.#clock = clock;
    this.#sli = metrics.histogram({
      name: 'kubelet_pod_start_sli_duration_seconds',
      help: 'Seconds from a pod being made to its being seen running, without pulls of images and init containers.',
      stability: 'ALPHA',
      buckets: startBuckets,
    });
    this.#total = metrics.histogram({
      name: 'kubelet_pod_start_total_duration_seconds',
      help: 'Seconds from a pod being made to its being seen running.',
      stability: 'ALPHA',
      buckets: startBuckets,
    });
    this.#first = metrics.gauge({
      name: 'kubelet_first_network_pod_start_sli_duration_seconds',
      help: 'As kubelet_pod_start_sli_duration_seconds, of the first pod with a network of its own.',
      stability: 'INTERNAL',
    });
  }

  /** The pod as the watch has just delivered it. */
  observed(pod: Pod): void {
    const { uid: text = '', annotations } = pod.metadata ?? {};
    const uid = podUid(text);
    if (annotations?.[configAnnotations.mirror] !== undefined) return;
    if (isTerminalPhase(pod.status?.phase)) return this.forget(uid);
    const state = this.#starting.get(uid);
    if (state === undefined) {
      if (pod.status?.startTime === undefined) this.#starting.set(uid, {});
      return;
    }
    if (!hasStarted(pod)) return;
    this.#starting.delete(uid);
    this.#measure(pod, state);
  }

  /** The pod waits for an image from now on. */
  began(uid: PodUid): void {
    const state = this.#starting.get(uid);
    if (state !== undefined) state.pullBegan ??= this.#clock.now();
  }

  ended(uid: PodUid): void {
    const state = this.#starting.get(uid);
    if (state !== undefined) state.pullEnded = this.#clock.now();
  }

  forget(uid: PodUid): void {
    this.#starting.delete(uid);
  }

  size(): number {
    return this.#starting.size;
  }

  #measure(pod: Pod, { pullBegan, pullEnded }: Starting): void {
    const whole = { from: Date.parse(pod.metadata?.creationTimestamp ?? ''), to: this.#clock.now() };
    if (Number.isNaN(whole.from)) return;
    const pulls = pullBegan === undefined || pullEnded === undefined ? [] : [{ from: pullBegan, to: pullEnded }];
    const total = Math.max(0, whole.to - whole.from);
    const own = Math.max(0, total - covered([...pulls, ...initRuns(pod)], whole));
    this.#total.observe(total / 1_000);
    this.#sli.observe(own / 1_000);
    if (this.#hasNetworkPod || pod.spec?.hostNetwork === true) return;
    this.#hasNetworkPod = true;
    this.#first.set(own / 1_000);
  }
}

/** All containers run, as the API server shows them. */
function hasStarted({ spec, status }: Pod): boolean {
  const statuses = status?.containerStatuses ?? [];
  return statuses.length === spec?.containers.length && statuses.every(({ state }) => state?.running !== undefined);
}

function initRuns({ status }: Pod): readonly Span[] {
  return (status?.initContainerStatuses ?? []).flatMap(({ state }) => {
    const { startedAt, finishedAt } = state?.terminated ?? {};
    if (startedAt === undefined || finishedAt === undefined) return [];
    return [{ from: Date.parse(startedAt), to: Date.parse(finishedAt) }];
  });
}

/** How much of the whole the spans cover together; they may overlap. */
export function covered(spans: readonly Span[], whole: Span): number {
  let sum = 0;
  let upTo = whole.from;
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    const [begin, end] = [Math.max(from, upTo), Math.min(to, whole.to)];
    if (end <= begin) continue;
    sum += end - begin;
    upTo = end;
  }
  return sum;
}
