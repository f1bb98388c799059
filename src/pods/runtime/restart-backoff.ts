import { Backoff, type BackoffLimits } from '../../base/backoff.ts';
import type { Clock } from '../../base/clock.ts';
import { Duration } from '../../base/duration.ts';
import { isKind } from '../../base/errors.ts';
import type { PodUid } from '../../base/ids.ts';
import type { Container } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';

/** A pod may ask for other times, as in `initial=1s,max=30s`. */
export const restartBackoffAnnotation = 'tubelet.io/restart-back-off';

/** Bounds of what a pod may ask for, so that no pod restarts a container faster than the node can bear. */
const minDelayMs = 1_000;
const maxDelayMs = 300_000;

interface BackoffChoice {
  readonly limits: BackoffLimits;
  /** What is wrong with the pod's annotation; the node's limits hold then. */
  readonly problem?: string;
}

/** The limits for a pod: the node's, or within bounds its own. */
export function computeBackoffLimits(annotation: string | undefined, node: BackoffLimits): BackoffChoice {
  if (annotation === undefined) return { limits: node };
  const asked: { initialMs?: number; maxMs?: number } = {};
  for (const part of annotation.split(',')) {
    const [key, value = ''] = part.trim().split('=');
    const ms = parsedMs(value);
    if ((key !== 'initial' && key !== 'max') || ms === undefined) {
      return { limits: node, problem: `"${part}" is not of the form initial=DURATION or max=DURATION` };
    }
    if (ms < minDelayMs || ms > maxDelayMs) return { limits: node, problem: `"${part}" is not between 1s and 5m` };
    asked[key === 'initial' ? 'initialMs' : 'maxMs'] = ms;
  }
  const initialMs = asked.initialMs ?? Math.min(node.initialMs, asked.maxMs ?? node.maxMs);
  const maxMs = asked.maxMs ?? Math.max(node.maxMs, initialMs);
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
  /** Called when a pod's annotation is invalid. */
  readonly onProblem?: (pod: DesiredPod, problem: string) => void;
}

/** How long a container that ended must wait before it is started again, counted from its end. */
export class RestartBackoff {
  readonly #deps: RestartBackoffDeps;
  readonly #pods = new Map<PodUid, { readonly asked: string | undefined; readonly backoff: Backoff }>();

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

  /** Pods of which an end is remembered. */
  size(): number {
    return this.#pods.size;
  }

  #of(pod: DesiredPod): Backoff {
    const asked = pod.metadata.annotations?.[restartBackoffAnnotation];
    const known = this.#pods.get(pod.uid);
    if (known !== undefined && known.asked === asked) return known.backoff;
    const { limits, problem } = computeBackoffLimits(asked, this.#deps.limits);
    if (problem !== undefined) this.#deps.onProblem?.(pod, problem);
    const backoff = new Backoff({ clock: this.#deps.clock, ...limits });
    this.#pods.set(pod.uid, { asked, backoff });
    return backoff;
  }
}

/** With another image or other resources the container is taken for a new one, and its back-off starts at the minimum. */
function keyOf({ name, image = '', resources = {} }: Container): string {
  return JSON.stringify([name, image, resources]);
}
