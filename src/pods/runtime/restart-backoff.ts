import { Backoff, type BackoffLimits } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { Duration } from '../../base/duration.ts';
import { isKind } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Container } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';

/** A pod may ask for other times, as in `initial=1s,max=30s`. */
export const restartBackoffAnnotation = 'tubelet.io/restart-back-off';

/** However eager a pod is, a node must survive it. */
const shortestMs = 1_000;
const longestMs = 300_000;

interface BackoffWish {
  readonly limits: BackoffLimits;
  /** What is wrong with the pod's wish; the node's limits hold then. */
  readonly problem?: string;
}

/** The limits for a pod: the node's, or within bounds its own. */
export function computeBackoffLimits(annotation: string | undefined, node: BackoffLimits): BackoffWish {
  if (annotation === undefined) return { limits: node };
  const wish: { initialMs?: number; maxMs?: number } = {};
  for (const part of annotation.split(',')) {
    const [key, value = ''] = part.trim().split('=');
    const ms = parsedMs(value);
    if ((key !== 'initial' && key !== 'max') || ms === undefined) {
      return { limits: node, problem: `"${part}" is not of the form initial=DURATION or max=DURATION` };
    }
    if (ms < shortestMs || ms > longestMs) return { limits: node, problem: `"${part}" is not between 1s and 5m` };
    wish[key === 'initial' ? 'initialMs' : 'maxMs'] = ms;
  }
  const initialMs = wish.initialMs ?? Math.min(node.initialMs, wish.maxMs ?? node.maxMs);
  const maxMs = wish.maxMs ?? Math.max(node.maxMs, initialMs);
  if (initialMs > maxMs) return { limits: node, problem: 'initial is longer than max' };
  return { limits: { initialMs, maxMs } };
}

function parsedMs(text: string): number | undefined {
  try {
    return Duration.parse(text).toMillis();
  } catch (error) {
    if (isKind(error, 'invalid')) return undefined;
    throw error;
  }
}

interface RestartBackoffDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly limits: BackoffLimits;
  /** Told when a pod's wish cannot be granted. */
  readonly onProblem?: (pod: DesiredPod, problem: string) => void;
}

/** How long a container that ended must wait before it is started again, counted from its end. */
export class RestartBackoff {
  readonly #deps: RestartBackoffDeps;
  readonly #pods = new Map<PodUid, { readonly wish: string | undefined; readonly backoff: Backoff }>();

  constructor(deps: RestartBackoffDeps) {
    this.#deps = deps;
  }

  /** Milliseconds still to wait, and the delay they are a rest of; nothing when it may start. */
  waiting(
    pod: DesiredPod,
    container: Container,
    endedAt: number,
  ): { readonly waitMs: number; readonly delayMs: number } | undefined {
    const backoff = this.#of(pod);
    const key = keyOf(container);
    const waitMs = backoff.remainingMs(key, endedAt);
    return waitMs <= 0 ? undefined : { waitMs, delayMs: backoff.get(key) };
  }

  /** The container is started again after the end at `endedAt`: the next wait is longer, unless it ran well for long. */
  restarted(pod: DesiredPod, container: Container, endedAt: number): void {
    this.#of(pod).next(keyOf(container), endedAt);
  }

  forget(uid: PodUid): void {
    this.#pods.delete(uid);
  }

  /** Pods with a memory of ends. */
  size(): number {
    return this.#pods.size;
  }

  #of(pod: DesiredPod): Backoff {
    const wish = pod.metadata.annotations?.[restartBackoffAnnotation];
    const known = this.#pods.get(pod.uid);
    if (known !== undefined && known.wish === wish) return known.backoff;
    const { limits, problem } = computeBackoffLimits(wish, this.#deps.limits);
    if (problem !== undefined) this.#deps.onProblem?.(pod, problem);
    const backoff = new Backoff({ clock: this.#deps.clock, ...limits });
    this.#pods.set(pod.uid, { wish, backoff });
    return backoff;
  }
}

/** Another image or other resources are another attempt at running: the count begins anew. */
function keyOf({ name, image = '', resources = {} }: Container): string {
  return JSON.stringify([name, image, resources]);
}
