import { cutText } from '../../base/cut-text.ts';
import type { ContainerStatus, PodCondition, PodSpec } from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import { isRestartableInit, sidecarsOf } from '../../model/containers.ts';
import { conditionReasons, isOwnCondition, podConditions, podPhases, type PodPhase } from '../../model/reasons.ts';
import { anyRegularStarted } from './compute-phase.ts';

export interface ConditionsInput {
  readonly spec: PodSpec;
  readonly phase: PodPhase;
  readonly statuses: readonly ContainerStatus[];
  readonly needsSandbox: boolean;
  /** Conditions as the API server has them; those of others are kept. */
  readonly apiConditions: readonly PodCondition[];
  /** Conditions this agent generated last. */
  readonly previous: readonly PodCondition[];
  /** Made by the resize logic. */
  readonly resize: readonly PodCondition[];
  /** Set when this agent ends the pod although it would go on. */
  readonly disruption?: { readonly reason: string; readonly message: string };
  readonly observedGeneration: number | undefined;
  readonly nowMs: number;
}

/** A condition before it is stamped with generation and time. */
interface UnstampedCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/** All conditions of the pod in their fixed order. */
export function generateConditions(input: ConditionsInput): PodCondition[] {
  const foreign = input.apiConditions.filter(({ type }) => !isOwnCondition(type));
  const stamp = (condition: UnstampedCondition): PodCondition => stamped(input, condition);
  const disruption = disruptionOf(input, stamp);
  const others = foreign.filter(({ type }) => disruption === undefined || type !== disruption.type);
  const before = [...others, ...input.resize, ...(disruption === undefined ? [] : [disruption])];
  const containers = containersReady(input);
  return [
    ...before,
    stamp({ type: podConditions.readyToStartContainers, status: input.needsSandbox ? 'False' : 'True' }),
    stamp(initialized(input)),
    stamp(podReady(input.spec, containers, before)),
    stamp(containers),
    stamp({ type: podConditions.scheduled, status: 'True' }),
  ];
}

/** Ready or ContainersReady of a pod that has ended. */
export function endedCondition(type: string, phase: 'Succeeded' | 'Failed'): UnstampedCondition {
  const reason = phase === podPhases.succeeded ? conditionReasons.podCompleted : conditionReasons.podFailed;
  return { type, status: 'False', reason };
}

/** The lastTransitionTime stays until the status itself changes. */
function stamped(input: ConditionsInput, condition: UnstampedCondition): PodCondition {
  const old = input.previous.find(({ type }) => type === condition.type);
  const since = old?.status === condition.status ? old.lastTransitionTime : undefined;
  return {
    ...condition,
    ...(input.observedGeneration !== undefined && { observedGeneration: input.observedGeneration }),
    lastTransitionTime: since ?? apiTime(input.nowMs),
  };
}

function disruptionOf(
  input: ConditionsInput,
  stamp: (condition: UnstampedCondition) => PodCondition,
): PodCondition | undefined {
  const type = podConditions.disruptionTarget;
  if (input.disruption === undefined) return input.previous.find((condition) => condition.type === type);
  return stamp({ type, status: 'True', ...input.disruption });
}

function initialized(input: ConditionsInput): UnstampedCondition {
  const { spec, phase } = input;
  const type = podConditions.initialized;
  const init = spec.initContainers ?? [];
  const byName = new Map(input.statuses.map((status) => [status.name, status]));
  if (init.length > 0 && byName.size === 0) {
    return { type, status: 'False', reason: conditionReasons.unknownContainerStatuses };
  }
  const unknown = init.filter(({ name }) => !byName.has(name)).map(({ name }) => name);
  const incomplete = init
    .filter((container) => {
      const status = byName.get(container.name);
      return status !== undefined && (isRestartableInit(container) ? status.started !== true : !status.ready);
    })
    .map(({ name }) => name);
  if (phase === podPhases.succeeded && unknown.length === 0) {
    return { type, status: 'True', reason: conditionReasons.podCompleted };
  }
  if (anyRegularStarted(spec, byName)) return { type, status: 'True' };
  const message = listing({ unknown, incomplete });
  if (message === '') return { type, status: 'True' };
  return { type, status: 'False', reason: conditionReasons.containersNotInitialized, message };
}

function containersReady(input: ConditionsInput): UnstampedCondition {
  const { spec, phase, statuses } = input;
  const type = podConditions.containersReady;
  if (statuses.length === 0) return { type, status: 'False', reason: conditionReasons.unknownContainerStatuses };
  const byName = new Map(statuses.map((status) => [status.name, status]));
  const names = [...sidecarsOf(spec), ...spec.containers].map(({ name }) => name);
  const unknown = names.filter((name) => !byName.has(name));
  const unready = names.filter((name) => byName.get(name)?.ready === false);
  if (phase === podPhases.succeeded && unknown.length === 0) return endedCondition(type, phase);
  if (phase === podPhases.failed) return endedCondition(type, phase);
  const message = listing({ unknown, unready });
  if (message === '') return { type, status: 'True' };
  return { type, status: 'False', reason: conditionReasons.containersNotReady, message };
}

/** A pod is ready when its containers are and the condition of every readiness gate is True. */
function podReady(
  spec: PodSpec,
  containers: UnstampedCondition,
  conditions: readonly PodCondition[],
): UnstampedCondition {
  const type = podConditions.ready;
  if (containers.status !== 'True') return { ...containers, type };
  const closed = (spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = conditions.find((condition) => condition.type === conditionType);
    if (gate === undefined) {
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    }
    return gate.status === 'True'
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`];
  });
  if (closed.length === 0) return { type, status: 'True' };
  return {
    type,
    status: 'False',
    reason: conditionReasons.readinessGatesNotReady,
    message: cutText(closed.join(', ')),
  };
}

function listing(groups: Readonly<Record<string, readonly string[]>>): string {
  const lists = Object.entries(groups)
    .filter(([, names]) => names.length > 0)
    .map(([word, names]) => `containers with ${word} status: [${names.join(' ')}]`);
  return cutText(lists.join(', '));
}
