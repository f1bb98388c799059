import type { ContainerStatus, PodCondition, PodSpec, PodStatus } from '../../gen/kubernetes/types.ts';
import { isRestartableInit } from '../../model/containers.ts';
import { isOwnCondition, isTerminalPhase, podConditions, podMessages, podPhases } from '../../model/reasons.ts';
import { computeRestart } from '../../model/restart-policy.ts';
import { firstBytes, terminationLimits } from '../../model/termination-message.ts';
import { hasStarted } from './compute-phase.ts';
import { endedCondition } from './generate-conditions.ts';
import { lostContainer } from './generate-container-statuses.ts';

export interface MergeOptions {
  readonly spec: PodSpec;
  /** While the worker may still run containers, no terminal phase is published: their resources are not free yet. */
  readonly couldHaveRunningContainers: boolean;
  /** Gate ContainerRestartRules: containers may have restart policies and rules of their own. */
  readonly ownRestartRules?: boolean;
}

type MergeResult = { readonly status: PodStatus } | { readonly illegal: string };

/** Puts a generated status on top of the one the API server has, keeping what belongs to others. */
export function mergeStatus(old: PodStatus, next: PodStatus, options: MergeOptions): MergeResult {
  const illegal = illegalTransition(old, next, options);
  if (illegal !== undefined) return { illegal };
  const ending = !isTerminalPhase(old.phase) && isTerminalPhase(next.phase);
  const held = (ending && options.couldHaveRunningContainers) || leavesTerminalPhase(old, next);
  const { phase, reason, message, ...rest } = next;
  const shown = held
    ? pick(old, 'phase', 'reason', 'message')
    : pick({ phase, reason, message }, 'phase', 'reason', 'message');
  const conditions = mergeConditions(old, next, ending && !held);
  const status: PodStatus = {
    ...rest,
    ...shown,
    ...pick(old, 'nominatedNodeName', 'resourceClaimStatuses', 'extendedResourceClaimStatus'),
    conditions: isTerminalPhase(shown.phase) ? notReady(conditions, shown.phase) : conditions,
  };
  return { status };
}

/** Cuts termination messages so that a pod with many containers still fits into its status. */
export function normalizeStatus(status: PodStatus): PodStatus {
  const lists = [status.containerStatuses, status.initContainerStatuses, status.ephemeralContainerStatuses];
  const count = lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
  const share = Math.floor(terminationLimits.pod / Math.max(1, count));
  return mapContainers(status, (container) => ({
    ...container,
    ...(container.state !== undefined && { state: shortened(container.state, share) }),
    ...(container.lastState !== undefined && { lastState: shortened(container.lastState, share) }),
  }));
}

/**
 * The last status of a pod whose containers have all been removed: a container that shows no end gets one, and so does the
 * pod. Containers that could not start, because initialisation was not over, stay waiting.
 */
export function terminateStatus(
  status: PodStatus,
  spec: PodSpec,
  initialized = wasInitialized(status, spec),
): PodStatus {
  const lost = (container: ContainerStatus): ContainerStatus =>
    container.state?.terminated === undefined
      ? {
          ...container,
          state: { terminated: lostContainer(podMessages.lostWhenTerminated) },
          ready: false,
          started: false,
        }
      : container;
  const init = status.initContainerStatuses ?? [];
  const begun = Math.max(1, init.findLastIndex((one) => one.state?.waiting === undefined || hasStarted(one)) + 1);
  const regular = status.containerStatuses ?? [];
  return {
    ...status,
    ...(init.length > 0 && {
      initContainerStatuses: init.map((one, index) => (index < begun ? lost(one) : one)),
    }),
    containerStatuses: initialized ? regular.map(lost) : regular,
    phase: isTerminalPhase(status.phase) ? status.phase : podPhases.failed,
  };
}

/** Whether its init containers had completed, so that the others should have started. */
export function wasInitialized(status: PodStatus, spec: PodSpec): boolean {
  const last = spec.initContainers?.at(-1);
  if (last === undefined) return true;
  if ((status.containerStatuses ?? []).some((one) => one.state?.waiting === undefined || hasStarted(one))) {
    return true;
  }
  const lastInit = status.initContainerStatuses?.find(({ name }) => name === last.name);
  if (isRestartableInit(last)) return lastInit?.started === true;
  return lastInit?.state?.terminated?.exitCode === 0 || lastInit?.lastState?.terminated?.exitCode === 0;
}

function leavesTerminalPhase(old: PodStatus, next: PodStatus): boolean {
  return isTerminalPhase(old.phase) && old.phase !== next.phase;
}

/** A container that has ended for good must not run again: a controller may have acted on its end. */
function illegalTransition(old: PodStatus, next: PodStatus, options: MergeOptions): string | undefined {
  const { spec, ownRestartRules = false } = options;
  const after = new Map(allStatuses(next).map((status) => [status.name, status]));
  const containers = new Map([...(spec.initContainers ?? []), ...spec.containers].map((one) => [one.name, one]));
  const revived = allStatuses(old).find((before) => {
    const end = before.state?.terminated;
    const now = after.get(before.name);
    if (end === undefined || now === undefined || now.state?.terminated !== undefined) return false;
    const container = containers.get(before.name) ?? {};
    if (isRestartableInit(container) && !spec.containers.some(({ name }) => name === before.name)) return false;
    return !computeRestart({ container, podPolicy: spec.restartPolicy, ended: end, ownRules: ownRestartRules });
  });
  return revived && `terminated container ${revived.name} attempted illegal transition to non-terminated state`;
}

function allStatuses(status: PodStatus): readonly ContainerStatus[] {
  return [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
}

/** The disruption condition is published together with the pod's end: before it, the pod may still end on its own. */
function mergeConditions(old: PodStatus, next: PodStatus, ending: boolean): PodCondition[] {
  const isDisruption = ({ type }: PodCondition): boolean => type === podConditions.disruptionTarget;
  const disruption = ending ? next.conditions?.find(isDisruption) : undefined;
  const foreign = (old.conditions ?? []).filter(({ type }) => !isOwnCondition(type));
  const replaced = foreign.map((other) => (disruption !== undefined && isDisruption(other) ? disruption : other));
  const appended = disruption !== undefined && !foreign.some(isDisruption) ? [disruption] : [];
  return [...replaced, ...appended, ...(next.conditions ?? []).filter(({ type }) => isOwnCondition(type))];
}

function notReady(conditions: readonly PodCondition[], phase: 'Succeeded' | 'Failed'): PodCondition[] {
  const types: readonly string[] = [podConditions.ready, podConditions.containersReady];
  return conditions.map((condition) => {
    if (!types.includes(condition.type) || condition.status !== 'True') return condition;
    const { message: _, ...kept } = condition;
    return { ...kept, ...endedCondition(condition.type, phase) };
  });
}

function shortened(state: NonNullable<ContainerStatus['state']>, limit: number): NonNullable<ContainerStatus['state']> {
  const message = state.terminated?.message;
  if (state.terminated === undefined || message === undefined) return state;
  return { ...state, terminated: { ...state.terminated, message: firstBytes(message, limit) } };
}

function mapContainers(status: PodStatus, change: (container: ContainerStatus) => ContainerStatus): PodStatus {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = status;
  return {
    ...status,
    ...(containerStatuses && { containerStatuses: containerStatuses.map(change) }),
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(change) }),
    ...(ephemeralContainerStatuses && { ephemeralContainerStatuses: ephemeralContainerStatuses.map(change) }),
  };
}

/** The named fields of a status that are there. */
function pick<Name extends keyof PodStatus>(
  status: { readonly [Key in Name]?: PodStatus[Key] | undefined },
  ...names: readonly Name[]
): Pick<PodStatus, Name> {
  const entries = names.map((name) => [name, status[name]] as const).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Pick<PodStatus, Name>;
}
