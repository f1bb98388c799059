import { ownValue } from '../../base/own-value.ts';
import type { PodSpec } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { podRequests } from '../../model/pod-resources.ts';
import { Quantity } from '../../model/quantity.ts';

/** The resource that every pod takes one of. */
export const podsResource = 'pods';

/** Specs never change, and every new pod is compared with all others: the requests of each spec are summed once. */
const summed = new WeakMap<PodSpec, ReadonlyMap<string, bigint>>();

/** Resource → amount, in thousandths for cpu and whole units for the rest, as messages and sums count them. */
export function requestsOf({ spec }: Pick<DesiredPod, 'spec'>): ReadonlyMap<string, bigint> {
  const known = summed.get(spec);
  if (known !== undefined) return known;
  const totals = [...podRequests(spec, { overhead: true })].filter(([name]) => isCounted(name));
  const amounts = new Map(totals.map(([name, total]) => [name, inUnits(name, total)] as const));
  amounts.set(podsResource, 1n);
  summed.set(spec, amounts);
  return amounts;
}

export function requestOf(pod: Pick<DesiredPod, 'spec'>, resource: string): bigint {
  return requestsOf(pod).get(resource) ?? 0n;
}

/** The node's allocatable amount of a resource; zero for a resource that it does not name. */
export function capacityOf(allocatable: Readonly<Record<string, string>>, resource: string): bigint {
  return inUnits(resource, Quantity.parse(ownValue(allocatable, resource) ?? '0'));
}

/** Resources of vendors: those that a node does not know belong to the cluster and are counted there. */
export function isExtended(resource: string): boolean {
  return resource.includes('/') && !resource.includes('kubernetes.io/') && !resource.startsWith('requests.');
}

function isCounted(resource: string): boolean {
  return (
    ['cpu', 'memory', 'ephemeral-storage'].includes(resource) ||
    isExtended(resource) ||
    resource.includes('kubernetes.io/') ||
    resource.startsWith('hugepages-') ||
    resource.startsWith('attachable-volumes-')
  );
}

function inUnits(resource: string, amount: Quantity): bigint {
  return resource === 'cpu' ? amount.milliValue() : amount.value();
}
