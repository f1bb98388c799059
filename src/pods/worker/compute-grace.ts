import type { DesiredPod } from '../../model/desired-pod.ts';

interface GraceInput {
  readonly pod: DesiredPod;
  /** The grace period of an earlier kill, in seconds. */
  readonly current?: number;
  /** What this kill asks for. */
  readonly override?: number;
}

/**
 * The grace period of a pod in seconds: the shortest of those given, else that of the spec. It is one second at least, so
 * that SIGTERM is sent at all.
 */
export function computeGrace({ pod, current, override }: GraceInput): number {
  const given = [current, pod.metadata.deletionGracePeriodSeconds, override].filter((seconds) => seconds !== undefined);
  const graceSeconds = given.length > 0 ? Math.min(...given) : (pod.spec.terminationGracePeriodSeconds ?? 1);
  return Math.max(1, graceSeconds);
}
