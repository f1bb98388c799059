import type { Node, NodeCondition } from '../../gen/kubernetes/types.ts';
import { nodeEvents } from '../../model/event-reasons.ts';
import { statusEvent, withStatus, type NodePressure, type Setter } from './setter.ts';

interface PressureWords {
  readonly type: string;
  readonly pressed: Words;
  readonly relaxed: Words;
}

interface Words {
  readonly reason: string;
  readonly message: string;
  readonly event: string;
}

const words: Readonly<Record<keyof NodePressure, PressureWords>> = {
  memory: {
    type: 'MemoryPressure',
    pressed: {
      reason: 'KubeletHasInsufficientMemory',
      message: 'kubelet has insufficient memory available',
      event: nodeEvents.nodeHasInsufficientMemory,
    },
    relaxed: {
      reason: 'KubeletHasSufficientMemory',
      message: 'kubelet has sufficient memory available',
      event: nodeEvents.nodeHasSufficientMemory,
    },
  },
  disk: {
    type: 'DiskPressure',
    pressed: {
      reason: 'KubeletHasDiskPressure',
      message: 'kubelet has disk pressure',
      event: nodeEvents.nodeHasDiskPressure,
    },
    relaxed: {
      reason: 'KubeletHasNoDiskPressure',
      message: 'kubelet has no disk pressure',
      event: nodeEvents.nodeHasNoDiskPressure,
    },
  },
  pid: {
    type: 'PIDPressure',
    pressed: {
      reason: 'KubeletHasInsufficientPID',
      message: 'kubelet has insufficient PID available',
      event: nodeEvents.nodeHasInsufficientPid,
    },
    relaxed: {
      reason: 'KubeletHasSufficientPID',
      message: 'kubelet has sufficient PID available',
      event: nodeEvents.nodeHasSufficientPid,
    },
  },
};

/** The condition of one kind of pressure. While it stays the same, only its heartbeat moves. */
export function setPressure(kind: keyof NodePressure): Setter {
  const { type, pressed, relaxed } = words[kind];
  return (node, { settings, pressure }, time) => {
    const status = pressure[kind] ? 'True' : 'False';
    const before = conditionOf(node, type);
    if (before?.status === status) return { node: withCondition(node, { ...before, lastHeartbeatTime: time }) };
    const { reason, message, event } = pressure[kind] ? pressed : relaxed;
    const condition = { type, status, reason, message, lastHeartbeatTime: time, lastTransitionTime: time };
    return { node: withCondition(node, condition), events: [statusEvent(settings.nodeName, event)] };
  };
}

export function conditionOf(node: Node | undefined, type: string): NodeCondition | undefined {
  return node?.status?.conditions?.find((condition) => condition.type === type);
}

/** Replaces the existing condition of its type, or appends it. */
export function withCondition(node: Node, condition: NodeCondition): Node {
  const before = node.status?.conditions ?? [];
  const known = before.some(({ type }) => type === condition.type);
  const conditions = known
    ? before.map((one) => (one.type === condition.type ? condition : one))
    : [...before, condition];
  return withStatus(node, { conditions });
}
