import type { DesiredPod } from '../../model/desired-pod.ts';

interface GraceInput {
  readonly pod: DesiredPod;
  /** What an earlier kill settled on, in seconds. */
  readonly current?: number;
  /** What this kill asks for. */
  readonly override?: number;
}

/**
 * Seconds a pod gets to stop. Each voice can only shorten what is settled; the spec speaks only when nobody else did;
 * and a pod always gets one second, so that SIGTERM is sent at all.
 */
export function computeGrace({ pod, current, override }: GraceInput): number {
  const voices = [current, pod.metadata.deletionGracePeriodSeconds, override].filter((voice) => voice !== undefined);
  const settled = voices.length > 0 ? Math.min(...voices) : (pod.spec.terminationGracePeriodSeconds ?? 1);
  return Math.max(1, settled);
}
