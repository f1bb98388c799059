import type { ContainerId, SandboxId } from '../../base/ids.ts';
import type { Container } from '../../gen/kubernetes/types.ts';
import type { ContainerKind } from '../../model/containers.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';

/** What probes say of a container instance; `unknown` before the first result. */
export type ProbeResult = 'success' | 'failure' | 'unknown';

export interface ProbeResults {
  liveness(id: ContainerId): ProbeResult;
  startup(id: ContainerId): ProbeResult;
}

export interface ContainerStart {
  readonly container: Container;
  readonly kind: ContainerKind;
  /** The instance before this one; none for the first. */
  readonly previous?: ObservedContainer;
  /** For the log and for people who ask. */
  readonly reason: string;
}

export interface ContainerKill {
  readonly id: ContainerId;
  readonly name: string;
  /** The message of the event of the kill. */
  readonly message: string;
  readonly cause: 'unwanted' | 'changed' | 'liveness' | 'startup' | 'lost';
}

/**
 * What to do about a pod now, carried out top to bottom; a later sync decides again from a newer observation.
 */
export interface PodActions {
  /** Everything of the pod is stopped first: sandbox unusable, or nothing left to run. */
  readonly killPod?: { readonly reason: string };
  /** A new sandbox is made. */
  readonly createSandbox?: { readonly attempt: number; readonly reason: string };
  /** The sandbox that containers are started in, when none is made. */
  readonly sandbox?: SandboxId;
  /** What has to end or to come up before the next container may start, for people. */
  readonly waitsFor?: string;
  readonly kill: readonly ContainerKill[];
  /** In this order. */
  readonly start: readonly ContainerStart[];
}

export interface ActionsInput {
  readonly pod: DesiredPod;
  readonly observed: ObservedPod;
  readonly probes: ProbeResults;
  /** Gate ContainerRestartRules: containers may have restart policies and rules of their own. */
  readonly ownRestartRules?: boolean;
}

export function startOf(
  container: Container,
  kind: ContainerKind,
  previous: ObservedContainer | undefined,
  reason: string,
): ContainerStart {
  return { container, kind, reason, ...(previous && { previous }) };
}

export function killOf(status: ObservedContainer, message: string, cause: ContainerKill['cause']): ContainerKill {
  return { id: status.id, name: status.name, message, cause };
}
