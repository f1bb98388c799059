import type { Node } from '../../gen/kubernetes/types.ts';
import { apiTime } from '../../model/api-time.ts';
import { nodeEvents } from '../../model/event-reasons.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import { setAddresses } from './addresses.ts';
import { setImages } from './images.ts';
import { setMachineInfo } from './machine-info.ts';
import { setDaemonEndpoints, setFeatures, setPlatform, setRuntimeHandlers, setVolumesInUse } from './plain-fields.ts';
import { setPressure } from './pressure-conditions.ts';
import { setReady } from './ready-condition.ts';
import { statusEvent, type NodeInputs, type Setter } from './setter.ts';
import { setVersionInfo } from './version-info.ts';

/** New conditions are added in this order, and Ready reads the capacity that was set before it. */
const setters: readonly Setter[] = [
  setAddresses,
  setMachineInfo,
  setVersionInfo,
  setDaemonEndpoints,
  setImages,
  setPlatform,
  setRuntimeHandlers,
  setFeatures,
  setPressure('memory'),
  setPressure('disk'),
  setPressure('pid'),
  setReady,
  setVolumesInUse,
  noteSchedulable,
];

export interface ComputedNode {
  readonly node: Node;
  /** To be recorded after the node is written, or at once if there is nothing to write. */
  readonly events: readonly ObjectEvent[];
  /** What could not be set, as messages. */
  readonly problems: readonly string[];
}

/** The current node, computed from the API server's object. Fields of other writers stay. */
export function computeNodeStatus(previous: Node, inputs: NodeInputs, wallMs: number): ComputedNode {
  const time = apiTime(wallMs);
  const events: ObjectEvent[] = [];
  const problems: string[] = [];
  let node = previous;
  for (const set of setters) {
    const outcome = set(node, inputs, time);
    node = outcome.node;
    events.push(...(outcome.events ?? []));
    if (outcome.problem !== undefined) problems.push(outcome.problem);
  }
  return { node, events, problems };
}

function noteSchedulable(...[node, { settings, wasUnschedulable }]: Parameters<Setter>): ReturnType<Setter> {
  const unschedulable = isUnschedulable(node);
  if (unschedulable === wasUnschedulable) return { node };
  const event = unschedulable ? nodeEvents.nodeNotSchedulable : nodeEvents.nodeSchedulable;
  return { node, events: [statusEvent(settings.nodeName, event)] };
}

export function isUnschedulable(node: Node): boolean {
  return node.spec?.unschedulable === true;
}
