import type { ObservedPod } from '../../model/observed-pod.ts';

const minAgeMs = 1_000;

/**
 * How long the next sandbox of a pod waits. One that is lost is replaced at once; where its replacement is of no use
 * either, such as one that gets no address, the next ones come no faster than one a second. Nothing when none waits.
 */
export function computeSandboxWait({ sandboxes }: Pick<ObservedPod, 'sandboxes'>, nowMs: number): number | undefined {
  const [newest] = sandboxes;
  if (newest === undefined || newest.attempt === 0) return undefined;
  const ageMs = nowMs - newest.createdAt;
  // A creation in the future means that the clock was set back: that must not delay the pod.
  return ageMs >= 0 && ageMs < minAgeMs ? minAgeMs - ageMs : undefined;
}
