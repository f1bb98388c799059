import type { HostNetwork } from '../../model/host-facts.ts';
import { familyOf, isGlobalUnicast } from './ip-kinds.ts';

/**
 * The address by which other machines reach this one: from the interface of the default route, in the preferred family
 * if there is such a route. An interface without an address may use that of the loopback, as in fabrics of routed
 * hosts.
 */
export function outwardAddress(network: HostNetwork, preferred: 4 | 6): { address: string } | { problem: string } {
  const { interfaces, defaultRoutes } = network;
  if (defaultRoutes.length === 0) return { problem: 'no default routes found' };
  const global = (addresses: readonly string[], family: 4 | 6): string | undefined =>
    addresses.find((address) => familyOf(address) === family && isGlobalUnicast(address));
  for (const family of [preferred, preferred === 4 ? 6 : 4] as const) {
    for (const route of defaultRoutes) {
      if (route.family !== family) continue;
      const own = interfaces.find(({ name }) => name === route.interface)?.addresses ?? [];
      const lent = interfaces.filter(({ loopback }) => loopback).flatMap(({ addresses }) => addresses);
      const address = global(own, family) ?? global(lent, family);
      if (address !== undefined) return { address };
    }
  }
  return { problem: 'unable to select an IP from default routes.' };
}
