import type { Container, ContainerStateTerminated, ContainerStatus, PodSpec } from '../../gen/kubernetes/types.ts';
import { plainInitContainersOf, sidecarsOf } from '../../model/containers.ts';
import { podPhases, type PodPhase } from '../../model/reasons.ts';
import { computeRestart } from '../../model/restart-policy.ts';

export interface PhaseInput {
  readonly spec: PodSpec;
  readonly statuses: readonly ContainerStatus[];
  /** The worker has ended every container and starts none again. */
  readonly terminal: boolean;
  /** Static pods do not end by themselves. */
  readonly isStatic: boolean;
  /** The present sandbox has had a regular container: whatever its sidecars do now, initialisation is over. */
  readonly initialized: boolean;
  /** Gate ContainerRestartRules: containers may have restart policies and rules of their own. */
  readonly ownRestartRules: boolean;
}

/**
 *   Pending ──> Running ──> Succeeded
 *      └───────────┴──────> Failed
 *
 * The phase that follows from the containers alone. `mergeStatus` makes sure that a terminal phase is never left again.
 */
export function computePhase(input: PhaseInput): PodPhase {
  const { spec, isStatic, initialized, ownRestartRules } = input;
  const byName = new Map(input.statuses.map((status) => [status.name, status]));
  const restarts = (container: Container, ended: ContainerStateTerminated): boolean =>
    computeRestart({ container, podPolicy: spec.restartPolicy, ended, ownRules: ownRestartRules });

  const init = countInit(plainInitContainersOf(spec), byName, restarts);
  if (init.failedForGood > 0) return podPhases.failed;

  const sidecars = countSidecars(sidecarsOf(spec).map(({ name }) => byName.get(name)));
  const regular = countRegular(spec.containers, byName, restarts);
  const running = sidecars.running + regular.running;
  const unknown = sidecars.unknown + regular.unknown;

  // A sidecar that restarts does not make a pod Pending again whose regular containers have run.
  if (init.pending > 0 || (sidecars.pending > 0 && !initialized)) return podPhases.pending;
  if (sidecars.waiting + regular.waiting > 0) return podPhases.pending;
  if (unknown > 0) return podPhases.pending;
  if (running > 0) return podPhases.running;
  if (regular.stopped === 0) return podPhases.pending;
  const allSucceeded = regular.stopped === regular.succeeded;
  // By the pod's policy alone a container that waits for a start has not ended, however the instance before it ended.
  const byPolicy = spec.restartPolicy === 'OnFailure' ? !allSucceeded : spec.restartPolicy !== 'Never';
  const willRestart = ownRestartRules ? regular.restarting > 0 : byPolicy;
  if (willRestart && (!input.terminal || isStatic)) return podPhases.running;
  return allSucceeded ? podPhases.succeeded : podPhases.failed;
}

/** Whether a container has run at least once, as far as its status shows. */
export function hasStarted(status: ContainerStatus | undefined): boolean {
  return (
    status?.state?.running !== undefined ||
    status?.state?.terminated !== undefined ||
    status?.lastState?.terminated !== undefined
  );
}

/** Whether a regular container runs or has just ended; one that waits for its next start does not count. */
export function anyRegularStarted(spec: PodSpec, byName: ReadonlyMap<string, ContainerStatus>): boolean {
  return spec.containers.some(({ name }) => {
    const state = byName.get(name)?.state;
    return state?.running !== undefined || state?.terminated !== undefined;
  });
}

type MaybeStatus = ContainerStatus | undefined;
type ByName = ReadonlyMap<string, ContainerStatus>;
type Restarts = (container: Container, ended: ContainerStateTerminated) => boolean;

/** How the instance ended that the container shows, or the one before the start that it waits for. */
function endOf(status: MaybeStatus): ContainerStateTerminated | undefined {
  return status?.state?.terminated ?? (status?.state?.waiting && status.lastState?.terminated);
}

function countInit(containers: readonly Container[], byName: ByName, restarts: Restarts) {
  const count = { pending: 0, failedForGood: 0 };
  for (const container of containers) {
    const ended = endOf(byName.get(container.name));
    if (ended === undefined) count.pending++;
    else if (ended.exitCode !== 0 && !restarts(container, ended)) count.failedForGood++;
  }
  return count;
}

/** A sidecar that has ended does not decide the phase: it is either starting again or no longer needed. */
function countSidecars(statuses: readonly MaybeStatus[]) {
  const count = { running: 0, waiting: 0, unknown: 0, pending: 0 };
  for (const status of statuses) {
    const { running, terminated, waiting } = status?.state ?? {};
    if (running !== undefined) {
      count.running++;
      if (status?.started !== true) count.pending++;
    } else if (terminated === undefined && waiting === undefined) {
      count.unknown++;
      if (status !== undefined) count.pending++;
    } else if (waiting !== undefined && status?.lastState?.terminated === undefined) {
      count.waiting++;
      count.pending++;
    }
  }
  return count;
}

function countRegular(containers: readonly Container[], byName: ByName, restarts: Restarts) {
  const count = { running: 0, waiting: 0, stopped: 0, restarting: 0, succeeded: 0, unknown: 0 };
  for (const container of containers) {
    const status = byName.get(container.name);
    const { running, terminated, waiting } = status?.state ?? {};
    const ended = endOf(status);
    if (running !== undefined) count.running++;
    else if (ended !== undefined) {
      count.stopped++;
      if (restarts(container, ended)) count.restarting++;
      if (terminated?.exitCode === 0) count.succeeded++;
    } else if (waiting === undefined) count.unknown++;
    else count.waiting++;
  }
  return count;
}
