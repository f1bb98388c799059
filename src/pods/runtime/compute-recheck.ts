import { isRestartableInit } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

/** Bounds of the wait for an init container to end, in milliseconds. */
const soonestMs = 25;
const latestMs = 1_000;

/**
 * When to look again at a pod that waits for an init container to end. Most end within moments of starting, so the look
 * comes soon at first and later in proportion to how long it has been running: the wait that this adds stays a
 * fraction of what the container took. Nothing while no init container runs.
 */
export function computeInitRecheck(pod: DesiredPod, observed: ObservedPod, nowMs: number): number | undefined {
  const plain = new Set((pod.spec.initContainers ?? []).filter((c) => !isRestartableInit(c)).map(({ name }) => name));
  const running = observed.containers.find(({ name, state }) => state === 'running' && plain.has(name));
  if (running === undefined) return undefined;
  return Math.min(latestMs, Math.max(soonestMs, (nowMs - running.startedAt) / 4));
}
