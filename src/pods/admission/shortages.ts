import { ownValue } from '../../base/own-value.ts';
import { capacityOf, isExtended, podsResource, requestsOf } from './requests.ts';
import type { AdmissionInput } from './pod-admit-result.ts';

/** A resource of which the node has too little left for a pod. */
export interface Shortage {
  readonly resource: string;
  readonly requested: bigint;
  readonly used: bigint;
  readonly capacity: bigint;
}

/** The order in which resources are compared; the others follow by name. */
const order = [podsResource, 'cpu', 'memory', 'ephemeral-storage'];

/** The resources that the pod requests and the node has too little of beside the requests of the others. */
export function computeShortages(input: AdmissionInput): readonly Shortage[] {
  const { pod, active, node } = input;
  const others = active.map(requestsOf);
  return [...requestsOf(pod)]
    .filter(([resource, requested]) => requested > 0n && !isClusterResource(resource, input))
    .toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1))
    .map(([resource, requested]) => {
      const used = others.reduce((sum, requests) => sum + (requests.get(resource) ?? 0n), 0n);
      return { resource, requested, used, capacity: capacityOf(node.allocatable, resource) };
    })
    .filter((shortage) => missingOf(shortage) > 0n);
}

/** How much would have to be freed. */
export function missingOf({ requested, used, capacity }: Shortage): bigint {
  return requested - (capacity - used);
}

function isClusterResource(resource: string, { node }: AdmissionInput): boolean {
  return isExtended(resource) && ownValue(node.allocatable, resource) === undefined;
}

function rank(resource: string): number {
  const place = order.indexOf(resource);
  return place === -1 ? order.length : place;
}
