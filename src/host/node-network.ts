import { lookup } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import type { HostNetwork, DefaultRoute, HostInterface } from '../model/host-facts.ts';
import { codeOf } from '../model/network-text.ts';

const flagUp = 1;

export function readNodeNetwork(): HostNetwork {
  const running = Object.entries(networkInterfaces()).map(([name, entries = []]) => ({
    name,
    loopback: entries.some(({ internal }) => internal),
    addresses: entries.map(({ address }) => address),
  }));
  const interfaces = [...running, ...idleInterfaces(running, localAddresses4(textOf('/proc/net/fib_trie')))];
  const defaultRoutes = [
    ...defaultRoutes4(textOf('/proc/net/route')),
    ...defaultRoutes6(textOf('/proc/net/ipv6_route')),
  ];
  return { interfaces, defaultRoutes };
}

/**
 * Node leaves out interfaces without a carrier, for example a bridge without pods; their addresses belong to the node
 * all the same. The kernel's table does not contain their names.
 */
function idleInterfaces(running: readonly HostInterface[], local: readonly string[]): readonly HostInterface[] {
  const known = new Set(running.flatMap(({ addresses }) => addresses));
  const addresses = local.filter((address) => !known.has(address) && !address.startsWith('127.'));
  return addresses.length === 0 ? [] : [{ name: '', loopback: false, addresses }];
}

/** Of /proc/net/fib_trie: an address, and on a line below what it is to this host. */
export function localAddresses4(trie: string): readonly string[] {
  const found = [...trie.matchAll(/^ *\|-- ([\d.]+)\n(?: +\/.*\n)*? +\/32 host LOCAL$/gm)];
  return [...new Set(found.map(([, address = '']) => address))];
}

/** Of /proc/net/route: interface, destination, gateway, flags, …, below a line of headings. */
export function defaultRoutes4(table: string): readonly DefaultRoute[] {
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, destination, , flags]) => destination === '00000000' && isUp(flags))
    .map(([name = '']) => ({ interface: name, family: 4 }));
}

/**
 * Of /proc/net/ipv6_route: destination, its length, source, its length, gateway, metric, two counters, flags,
 * interface.
 */
export function defaultRoutes6(table: string): readonly DefaultRoute[] {
  const zero = '0'.repeat(32);
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([destination, length, , , gateway]) => destination === zero && length === '00' && gateway !== zero)
    .filter((fields) => isUp(fields[8]))
    .map((fields) => ({ interface: fields[9] ?? '', family: 6 }));
}

/** All addresses of a host name; empty when the name does not exist. Fails when no resolver answered. */
export async function lookupAddresses(name: string): Promise<readonly string[]> {
  try {
    return (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address);
  } catch (error) {
    if (codeOf(error) === 'ENOTFOUND') return [];
    throw error;
  }
}

function isUp(flags: string | undefined): boolean {
  return (Number.parseInt(flags ?? '0', 16) & flagUp) === flagUp;
}

/** A machine without one of the families has no table for it. */
function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
