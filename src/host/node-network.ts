import { lookup } from 'node:dns/promises';
import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { codeOf } from '../model/network-text.ts';

/** The interfaces that are up, and those that lead out. */
export interface NodeNetwork {
  readonly interfaces: readonly NodeInterface[];
  readonly defaultRoutes: readonly DefaultRoute[];
}

export interface NodeInterface {
  readonly name: string;
  readonly loopback: boolean;
  readonly addresses: readonly string[];
}

export interface DefaultRoute {
  readonly interface: string;
  readonly family: 4 | 6;
}

const flagUp = 1;

export function readNodeNetwork(): NodeNetwork {
  const interfaces = Object.entries(networkInterfaces()).map(([name, entries = []]) => ({
    name,
    loopback: entries.some(({ internal }) => internal),
    addresses: entries.map(({ address }) => address),
  }));
  const defaultRoutes = [
    ...defaultRoutes4(textOf('/proc/net/route')),
    ...defaultRoutes6(textOf('/proc/net/ipv6_route')),
  ];
  return { interfaces, defaultRoutes };
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

/** Of /proc/net/ipv6_route: destination, its length, source, its length, gateway, metric, two counters, flags, interface. */
export function defaultRoutes6(table: string): readonly DefaultRoute[] {
  const zero = '0'.repeat(32);
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([destination, length, , , gateway]) => destination === zero && length === '00' && gateway !== zero)
    .filter((fields) => isUp(fields[8]))
    .map((fields) => ({ interface: fields[9] ?? '', family: 6 }));
}

/** Every address a host name stands for; none when there is no such name. Fails when nobody could be asked. */
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
