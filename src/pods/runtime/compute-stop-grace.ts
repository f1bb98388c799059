import type { Container } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ContainerKill } from './pod-actions.ts';

/** A container of which nothing is known gets this long. */
const unknownSeconds = 2;

/** Seconds a single container gets to stop while its pod goes on. */
export function computeStopGrace(
  pod: DesiredPod,
  container: Container | undefined,
  cause: ContainerKill['cause'],
): number {
  const probe =
    cause === 'liveness' ? container?.livenessProbe : cause === 'startup' ? container?.startupProbe : undefined;
  return (
    pod.metadata.deletionGracePeriodSeconds ??
    probe?.terminationGracePeriodSeconds ??
    pod.spec.terminationGracePeriodSeconds ??
    unknownSeconds
  );
}
