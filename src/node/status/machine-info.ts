import type { Node } from '../../gen/kubernetes/types.ts';
import { nodeEvents } from '../../model/event-reasons.ts';
import { evictionReservation, nodeAllocatable, type Amounts } from '../../model/node-allocatable.ts';
import type { ObjectEvent } from '../../model/object-event.ts';
import { Quantity } from '../../model/quantity.ts';
import type { NodeSettings } from '../settings.ts';
import { isExtendedResource, isHugePages } from './resource-names.ts';
import { nodeInfoOf, withStatus, type NodeInputs, type Setter } from './setter.ts';

/** Capacity, allocatable, and the identity of the machine. Resources that other programs announce stay. */
export const setMachineInfo: Setter = (node, inputs) => {
  const { settings, devices } = inputs;
  const before = { capacity: node.status?.capacity ?? {}, allocatable: node.status?.allocatable ?? {} };
  const capacity = { ...before.capacity, ...machineCapacity(inputs), ...devices.capacity };
  // Kept with amount 0: that shows that the resource was a plugin's and not the cluster's.
  for (const name of devices.removed) capacity[name] = '0';
  const kept = Object.entries(before.allocatable).filter(
    ([name]) => capacity[name] !== undefined || !isExtendedResource(name),
  );
  const allocatable = { ...Object.fromEntries(kept), ...allocatableOf(capacity, devices.allocatable, settings) };
  const amounts = {
    capacity: keepSpelling(before.capacity, capacity),
    allocatable: keepSpelling(before.allocatable, allocatable),
  };
  const { node: identified, events } = withIdentity(node, inputs);
  return { node: withStatus(identified, amounts), events };
};

function machineCapacity({ settings, capacity }: NodeInputs): Amounts {
  const { maxPods, podsPerCore, localStorageCapacityIsolation } = settings;
  const cores = Number(Quantity.parse(capacity['cpu'] ?? '0').value());
  const counted = Object.entries(capacity).filter(
    ([name]) =>
      ['cpu', 'memory'].includes(name) ||
      isHugePages(name) ||
      (name === 'ephemeral-storage' && localStorageCapacityIsolation),
  );
  return {
    ...Object.fromEntries(counted.map(([name, amount]) => [name, name === 'cpu' ? amount : inBinary(amount)])),
    pods: String(podsPerCore > 0 ? Math.min(cores * podsPerCore, maxPods) : maxPods),
  };
}

/** What is left for pods after reservations. */
export function allocatableOf(
  capacity: Amounts,
  healthyDevices: Amounts,
  { reserved, evictionHard }: Pick<NodeSettings, 'reserved' | 'evictionHard'>,
): Amounts {
  const kept = evictionReservation(evictionHard, capacity);
  const left: Record<string, string> = { ...nodeAllocatable(capacity, reserved) };
  for (const [name, amount] of kept) if (left[name] !== undefined) left[name] = minus(left[name], amount);
  Object.assign(left, healthyDevices);
  // Huge pages are not available as plain memory any more.
  for (const [name, amount] of Object.entries(capacity)) {
    if (isHugePages(name) && left['memory'] !== undefined)
      left['memory'] = minus(left['memory'], Quantity.parse(amount));
  }
  return left;
}

function withIdentity(
  node: Node,
  { settings, identity, swapBytes }: NodeInputs,
): { readonly node: Node; readonly events: readonly ObjectEvent[] } {
  if (identity === undefined) return { node, events: [] };
  const { machineId: machineID, systemUuid: systemUUID, bootId: bootID } = identity;
  const before = node.status?.nodeInfo?.bootID ?? '';
  const rebooted = before !== '' && before !== bootID;
  const message = `Node ${settings.nodeName} has been rebooted, boot id: ${bootID}`;
  const { swap: _, ...info } = nodeInfoOf(node);
  const swap = swapBytes > 0n && { swap: { capacity: Number(swapBytes) } };
  return {
    node: withStatus(node, { nodeInfo: { ...info, machineID, systemUUID, bootID, ...swap } }),
    events: rebooted ? [{ type: 'Warning', reason: nodeEvents.rebooted, message }] : [],
  };
}

const minus = (amount: string, taken: Quantity): string => {
  const left = Quantity.parse(amount).sub(taken);
  return left.sign() < 0 ? '0' : left.toString();
};

const inBinary = (amount: string): string => Quantity.ofValue(Quantity.parse(amount).value(), 'binarySI').toString();

/** The API server may spell an amount in its own way; the same amount in another spelling is not a change. */
function keepSpelling(before: Amounts, after: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(after).map(([name, amount]) => {
      const old = before[name];
      const same = old !== undefined && Quantity.parse(old).compare(Quantity.parse(amount)) === 0;
      return [name, same ? old : amount];
    }),
  );
}
