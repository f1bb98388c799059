import type { Container, Probe } from '../../gen/kubernetes/types.ts';
import { isRestartableInit, type ContainerKind } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { restartPolicyOf } from '../../model/restart-policy.ts';
import type { ProbeType } from './ports.ts';

/** The numbers of one probe. */
export interface ProbeSettings {
  readonly type: ProbeType;
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/** One probe of one container of a pod; each worker has one. */
export interface ProbeAssignment {
  readonly settings: ProbeSettings;
  readonly probe: Probe;
  readonly container: Container;
  readonly kind: ContainerKind;
  /** The container is not restarted once it has ended. */
  readonly endsForGood: boolean;
}

/**
 * Every probe of a pod. Only regular containers and sidecars are probed. `ownRestartRules`: containers may have restart
 * policies and rules of their own.
 */
export function probesOf(pod: DesiredPod, ownRestartRules: boolean): readonly ProbeAssignment[] {
  const sidecars = (pod.spec.initContainers ?? []).filter(isRestartableInit);
  return [
    ...sidecars.flatMap((container) => assignments(container, 'init', false)),
    ...pod.spec.containers.flatMap((container) =>
      assignments(container, 'regular', endsForGood(pod, container, ownRestartRules)),
    ),
  ];
}

function assignments(container: Container, kind: ContainerKind, endsForGood: boolean): readonly ProbeAssignment[] {
  const probes: readonly (readonly [ProbeType, Probe | undefined])[] = [
    ['Startup', container.startupProbe],
    ['Readiness', container.readinessProbe],
    ['Liveness', container.livenessProbe],
  ];
  return probes.flatMap(([type, probe]) =>
    probe === undefined ? [] : [{ settings: settingsOf(type, probe), probe, container, kind, endsForGood }],
  );
}

/** A rule may restart a container in spite of its policy; its exit codes are not considered here. */
function endsForGood(pod: DesiredPod, container: Container, ownRules: boolean): boolean {
  const policy = restartPolicyOf({ container, podPolicy: pod.spec.restartPolicy, ownRules });
  return policy === 'Never' && !(ownRules && (container.restartPolicyRules ?? []).length > 0);
}

/** Zero stands for "not set", as in the API; a value below the minimum that it allows, for the minimum. */
function settingsOf(type: ProbeType, probe: Probe): ProbeSettings {
  return {
    type,
    initialDelayMs: Math.max(0, probe.initialDelaySeconds ?? 0) * 1_000,
    periodMs: Math.max(1, probe.periodSeconds || 10) * 1_000,
    timeoutMs: Math.max(1, probe.timeoutSeconds || 1) * 1_000,
    successThreshold: Math.max(1, probe.successThreshold || 1),
    failureThreshold: Math.max(1, probe.failureThreshold || 3),
  };
}
