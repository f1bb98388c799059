import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';
import type { HostInterface } from '../../model/host-facts.ts';

function listOf(...subnets: readonly (readonly [address: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, isIPv6(address) ? 'ipv6' : 'ipv4');
  return list;
}

const loopback = listOf(['127.0.0.0', 8], ['::1', 128]);
const multicast = listOf(['224.0.0.0', 4], ['ff00::', 8]);
const linkLocal = listOf(['169.254.0.0', 16], ['fe80::', 10]);
const unspecified = listOf(['0.0.0.0', 32], ['::', 128]);
const broadcast = listOf(['255.255.255.255', 32]);

export function familyOf(address: string): 4 | 6 {
  return isIPv6(address) ? 6 : 4;
}

export function isUnspecified(address: string): boolean {
  return within(unspecified, address);
}

/** Reachable beyond this machine and its links; includes private ranges. */
export function isGlobalUnicast(address: string): boolean {
  return ![loopback, multicast, linkLocal, unspecified, broadcast].some((list) => within(list, address));
}

/** The canonical spelling of an address, for comparisons. */
export function canonicalIp(address: string): string {
  if (isIP(address) === 0) return address;
  return new SocketAddress({ address, family: isIPv6(address) ? 'ipv6' : 'ipv4' }).address;
}

/** Why an address cannot be the node's; undefined when it can. */
export function nodeIpProblem(address: string, interfaces: readonly HostInterface[]): string | undefined {
  if (isIP(address) === 0) return 'nodeIP must be a valid IP address';
  if (within(loopback, address)) return "nodeIP can't be loopback address";
  if (within(multicast, address)) return "nodeIP can't be a multicast address";
  if (within(linkLocal, address)) return "nodeIP can't be a link-local unicast address";
  if (within(unspecified, address)) return "nodeIP can't be an all zeros address";
  const wanted = canonicalIp(address);
  const found = interfaces.some(({ addresses }) => addresses.some((own) => canonicalIp(own) === wanted));
  return found ? undefined : `node IP: "${wanted}" not found in the host's network interfaces`;
}

function within(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
