import { isRestartableInit } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';

/** Bounds of the wait for an init container to end, in milliseconds. */
const minMs = 25;
const maxMs = 1_000;

/**
 * When to sync a pod again that waits for an init container to end. Most end soon after their start, so the sync comes
 * soon at first and later in proportion to how long the container has been running: the delay that this adds stays a
 * fraction of what the container took. Nothing while no init container runs.
 */
export function computeInitRequeue(pod: DesiredPod, observed: ObservedPod, nowMs: number): number | undefined {
  const plain = new Set((pod.spec.initContainers ?? []).filter((c) => !isRestartableInit(c)).map(({ name }) => name));
  const running = observed.containers.find(({ name, state }) => state === 'running' && plain.has(name));
  if (running === undefined) return undefined;
  return Math.min(maxMs, Math.max(minMs, (nowMs - running.startedAt) / 4));
}
