import type { ContainerStatus, PodSpec } from '../../gen/kubernetes/types.ts';
import { plainInitContainersOf, sidecarsOf } from '../../model/containers.ts';
import { podPhases, type PodPhase } from '../../model/reasons.ts';

export interface PhaseInput {
  readonly spec: PodSpec;
  readonly statuses: readonly ContainerStatus[];
  /** The worker has ended every container and starts none again. */
  readonly terminal: boolean;
  /** Static pods do not end by themselves. */
  readonly isStatic: boolean;
}

/**
 *   Pending ──> Running ──> Succeeded
 *      └───────────┴──────> Failed
 *
 * The phase that the containers alone lead to. Whoever keeps the status makes sure that an end is never left again.
 */
export function computePhase(input: PhaseInput): PodPhase {
  const { spec, isStatic } = input;
  const byName = new Map(input.statuses.map((status) => [status.name, status]));
  const init = countInit(plainInitContainersOf(spec).map(({ name }) => byName.get(name)));
  if (init.failed > 0 && spec.restartPolicy === 'Never') return podPhases.failed;

  const sidecars = countSidecars(sidecarsOf(spec).map(({ name }) => byName.get(name)));
  const regular = countRegular(spec.containers.map(({ name }) => byName.get(name)));
  const running = sidecars.running + regular.running;
  const unknown = sidecars.unknown + regular.unknown;

  // A sidecar that restarts does not put a pod back to the beginning whose regular containers have run.
  if (init.pending > 0 || (sidecars.pending > 0 && !anyRegularStarted(spec, byName))) return podPhases.pending;
  if (sidecars.waiting + regular.waiting > 0) return podPhases.pending;
  if (unknown > 0) return podPhases.pending;
  if (running > 0) return podPhases.running;
  if (regular.stopped === 0) return podPhases.pending;
  const allSucceeded = regular.stopped === regular.succeeded;
  if (input.terminal && !isStatic) return allSucceeded ? podPhases.succeeded : podPhases.failed;
  if (spec.restartPolicy === 'OnFailure') return allSucceeded ? podPhases.succeeded : podPhases.running;
  if (spec.restartPolicy === 'Never') return allSucceeded ? podPhases.succeeded : podPhases.failed;
  return podPhases.running;
}

/** Whether a container has run at least once, as far as its status tells. */
export function hasStarted(status: ContainerStatus | undefined): boolean {
  return (
    status?.state?.running !== undefined ||
    status?.state?.terminated !== undefined ||
    status?.lastState?.terminated !== undefined
  );
}

export function anyRegularStarted(spec: PodSpec, byName: ReadonlyMap<string, ContainerStatus>): boolean {
  return spec.containers.some(({ name }) => hasStarted(byName.get(name)));
}

type MaybeStatus = ContainerStatus | undefined;

function countInit(statuses: readonly MaybeStatus[]): { pending: number; failed: number } {
  const count = { pending: 0, failed: 0 };
  for (const status of statuses) {
    const ended = status?.state?.terminated ?? (status?.state?.waiting && status.lastState?.terminated);
    if (ended === undefined) count.pending++;
    else if (ended.exitCode !== 0) count.failed++;
  }
  return count;
}

/** A sidecar that has ended says nothing about the pod: it is either starting again or no longer needed. */
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

function countRegular(statuses: readonly MaybeStatus[]) {
  const count = { running: 0, waiting: 0, stopped: 0, succeeded: 0, unknown: 0 };
  for (const status of statuses) {
    const { running, terminated, waiting } = status?.state ?? {};
    if (running !== undefined) count.running++;
    else if (terminated !== undefined) {
      count.stopped++;
      if (terminated.exitCode === 0) count.succeeded++;
    } else if (waiting === undefined) count.unknown++;
    else if (status?.lastState?.terminated !== undefined) count.stopped++;
    else count.waiting++;
  }
  return count;
}
