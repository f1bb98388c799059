import type { HostNetwork } from '../../model/host-facts.ts';
import { isIP } from 'node:net';
import type { Node, NodeAddress } from '../../gen/kubernetes/types.ts';
import type { NodeSettings } from '../settings.ts';
import { canonicalIp, familyOf, isUnspecified, nodeIpProblem, isGlobalUnicast } from './ip-kinds.ts';
import { withStatus, type NodeInputs, type Setter } from './setter.ts';

/** Passes the operator's choice among the machine's addresses to a cloud provider. */
export const providedIpAnnotation = 'alpha.kubernetes.io/provided-node-ip';

/** The name service is asked only where its answer could matter. */
export function needsLookup({ nodeIps, nodeName, externalCloudProvider }: NodeSettings): boolean {
  const [first] = nodeIps;
  if (first === undefined) return !externalCloudProvider && isIP(nodeName) === 0;
  return isUnspecified(first) && isIP(nodeName) === 0;
}

export const setAddresses: Setter = (given, inputs) => {
  const { settings, network } = inputs;
  const { nodeIps, nodeName, externalCloudProvider } = settings;
  const chosen = nodeIps.filter((address) => !isUnspecified(address)).map(canonicalIp);
  for (const [index, address] of chosen.entries()) {
    const why = nodeIpProblem(address, network.interfaces);
    if (why === undefined) continue;
    return { node: given, problem: `failed to validate ${index === 0 ? 'nodeIP' : 'secondaryNodeIP'}: ${why}` };
  }
  const node = withProvidedIps(given, externalCloudProvider ? chosen : []);
  if (externalCloudProvider) {
    // Addresses that the provider has set take precedence over the agent's.
    if ((node.status?.addresses?.length ?? 0) > 0) return { node };
    if (nodeIps.length === 0) return { node: withAddresses(node, [], nodeName) };
  }
  if (chosen.length > 0) return { node: withAddresses(node, chosen, nodeName) };
  const found = findAddress(inputs);
  if ('problem' in found) {
    return { node, problem: `can't get ip address of node ${nodeName}. error: ${found.problem}` };
  }
  return { node: withAddresses(node, [found.address], nodeName) };
};

/** From the name itself, its resolution, or the interface of the default route. */
function findAddress({
  settings,
  network,
  resolved,
}: NodeInputs): { readonly address: string } | { readonly problem: string } {
  const { nodeIps, nodeName } = settings;
  if (isIP(nodeName) !== 0) return { address: canonicalIp(nodeName) };
  const preferred = nodeIps[0] === undefined ? 4 : familyOf(nodeIps[0]);
  const usable = resolved.filter((address) => nodeIpProblem(address, network.interfaces) === undefined);
  const address = usable.find((one) => familyOf(one) === preferred) ?? usable[0];
  return address === undefined ? outwardAddress(network, preferred) : { address: canonicalIp(address) };
}

function withAddresses(node: Node, ips: readonly string[], hostname: string): Node {
  const addresses: readonly NodeAddress[] = [
    ...ips.map((address) => ({ type: 'InternalIP', address })),
    { type: 'Hostname', address: hostname },
  ];
  return withStatus(node, { addresses });
}

/** Removes the annotation of an earlier configuration. */
function withProvidedIps(node: Node, ips: readonly string[]): Node {
  const { [providedIpAnnotation]: before, ...others } = node.metadata?.annotations ?? {};
  if (ips.length === 0 && before === undefined) return node;
  const annotations = ips.length === 0 ? others : { ...others, [providedIpAnnotation]: ips.join(',') };
  return { ...node, metadata: { ...node.metadata, annotations } };
}

/**
 * The address by which other machines reach this one: from the interface of the default route, in the preferred family
 * if there is such a route. An interface without an address may use that of the loopback, as in fabrics of routed
 * hosts.
 */
function outwardAddress(network: HostNetwork, preferred: 4 | 6): { address: string } | { problem: string } {
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
