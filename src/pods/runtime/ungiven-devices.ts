import { cutText } from '../../base/cut-text.ts';
import type { Container, EphemeralContainer } from '../../gen/kubernetes/types.ts';
import { Quantity } from '../../model/quantity.ts';
import { refuse, type Refusal } from '../../model/refusal.ts';

/** Of names in a refusal. */
const maxNamesBytes = 1_024;

/**
 * What a container would have to be given and cannot: claims, and devices of a resource that the node knows and has none
 * of. New pods of that kind are not let in; this is for those that were here before this agent. A resource that the node
 * does not know is the cluster's, and nothing is given for it.
 */
export function ungivenDevices(
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
  const missing = wanted.find(([name, amount]) => isVendors(name) && isNone(allocatable[name]) && !isNone(amount));
  return (
    missing && refuse(`devices of ${cutText(missing[0], maxNamesBytes)} cannot be given to containers by this kubelet`)
  );
}

const isVendors = (name: string): boolean =>
  name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');

const isNone = (amount: string | undefined): boolean => amount !== undefined && Quantity.parse(amount).sign() === 0;
