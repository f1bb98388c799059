import { cutText } from '../../base/cut-text.ts';
import type { Container, EphemeralContainer } from '../../gen/kubernetes/types.ts';
import { Quantity } from '../../model/quantity.ts';
import { refuse, type Refusal } from '../../model/refusal.ts';

/** Limit of the names in a refusal. */
const maxNamesBytes = 1_024;

/**
 * The refusal of a container that asks for resource claims, or for devices of a resource of which the node has none.
 * Admission rejects new pods of that kind; this is for pods that another agent admitted. A resource that the node does not
 * know is the cluster's own, and a container gets no device for it.
 */
export function unavailableDevices(
  { resources }: Pick<Container | EphemeralContainer, 'resources'>,
  allocatable: Readonly<Record<string, string>>,
): Refusal | undefined {
  const claims = resources?.claims ?? [];
  if (claims.length > 0) {
    return refuse(
      `resource claims (${cutText(claims.map(({ name }) => name).join(', '), maxNamesBytes)}) cannot be prepared by this kubelet`,
    );
  }
  const wanted = Object.entries({ ...resources?.requests, ...resources?.limits });
  const missing = wanted.find(
    ([name, amount]) => isExtendedResource(name) && isZero(allocatable[name]) && !isZero(amount),
  );
  return (
    missing && refuse(`devices of ${cutText(missing[0], maxNamesBytes)} cannot be given to containers by this kubelet`)
  );
}

const isExtendedResource = (name: string): boolean =>
  name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');

const isZero = (amount: string | undefined): boolean => amount !== undefined && Quantity.parse(amount).sign() === 0;
