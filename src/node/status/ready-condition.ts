import { nodeEvents } from '../../model/event-reasons.ts';
import { conditionOf, withCondition } from './pressure-conditions.ts';
import { statusEvent, type Setter } from './setter.ts';

export const readyType = 'Ready';

/** Whether pods should come here. A newly made node has no transition, so there is no event. */
export const setReady: Setter = (node, { settings, notReady, softRequirement }, time) => {
  const { nodeName, localStorageCapacityIsolation } = settings;
  const needed = ['cpu', 'memory', 'pods', ...(localStorageCapacityIsolation ? ['ephemeral-storage'] : [])];
  const missing = needed.filter((name) => node.status?.capacity?.[name] === undefined);
  const problems = [
    ...notReady,
    ...(missing.length > 0 ? [`missing node capacity for resources: ${missing.join(', ')}`] : []),
  ];
  const ready = problems.length === 0;
  const message = ready ? 'kubelet is posting ready status' : aggregated(problems);
  const status = ready ? 'True' : 'False';
  const before = conditionOf(node, readyType);
  const changed = before?.status !== status;
  const condition = {
    type: readyType,
    status,
    reason: ready ? 'KubeletReady' : 'KubeletNotReady',
    message: softRequirement === undefined ? message : `${message}. WARNING: ${softRequirement}`,
    lastHeartbeatTime: time,
    lastTransitionTime: changed ? time : (before.lastTransitionTime ?? time),
  };
  const event = ready ? nodeEvents.nodeReady : nodeEvents.nodeNotReady;
  return {
    node: withCondition(node, condition),
    events: before !== undefined && changed ? [statusEvent(nodeName, event)] : [],
  };
};

/** One as it is, several in brackets, without duplicates. */
function aggregated(problems: readonly string[]): string {
  const distinct = [...new Set(problems)];
  return distinct.length === 1 ? (distinct[0] ?? '') : `[${distinct.join(', ')}]`;
}
