import { TubeletError } from '../base/errors.ts';
import type { InstanceNames } from './names.ts';
import type { RunCommand } from './ports.ts';
import { programs } from './programs.ts';
import { chooseSubnet, type Subnet } from './subnet.ts';

export interface Link {
  readonly name: string;
  /** The bridge it is plugged into. */
  readonly master?: string | undefined;
}

export async function listLinks(run: RunCommand): Promise<readonly Link[]> {
  return parseLinks(await run(programs.ip, ['-json', 'link', 'show']));
}

/** The output of `ip -json link show`; iproute2 leaves empty objects where an interface is filtered out. */
export function parseLinks(text: string): readonly Link[] {
  return readList(text).flatMap((entry) => {
    if (typeof entry['ifname'] !== 'string') return [];
    const master = entry['master'];
    return [{ name: entry['ifname'], ...(typeof master === 'string' ? { master } : {}) }];
  });
}

/** A range for pods that overlaps no route and no address of this machine. */
export async function findFreeSubnet(id: string, run: RunCommand): Promise<Subnet> {
  const routes = readList(await run(programs.ip, ['-json', '-4', 'route', 'show', 'table', 'all']));
  const taken = routes.flatMap((route) => (typeof route['dst'] === 'string' ? [route['dst']] : []));
  const subnet = chooseSubnet(id, taken);
  if (subnet === undefined) throw new TubeletError('exhausted', 'no /24 of 10.64.0.0/10 is free for the pod network');
  return subnet;
}

/**
 * Makes the bridge before the first pod does, so that other instances see its route and avoid the range.
 */
export async function makeBridge(names: InstanceNames, subnet: Subnet, run: RunCommand): Promise<void> {
  const links = await listLinks(run);
  if (!links.some((link) => link.name === names.bridge)) {
    await run(programs.ip, ['link', 'add', 'name', names.bridge, 'address', bridgeAddress(names), 'type', 'bridge']);
  }
  const address = `${subnet.gateway}/${subnet.prefix}`;
  await run(programs.ip, ['address', 'replace', address, 'brd', '+', 'dev', names.bridge]);
  await run(programs.ip, ['link', 'set', 'dev', names.bridge, 'up']);
}

/**
 * Without an address of its own a bridge takes the lowest of its ports: it would change as pods come and go, and CRI-O, which
 * checks the network of each new sandbox, refuses those that were joined meanwhile.
 */
function bridgeAddress({ id }: InstanceNames): string {
  // Locally administered, of no group.
  return ['02', '74', ...(id.match(/../g) ?? [])].join(':');
}

function readList(text: string): readonly Record<string, unknown>[] {
  const value: unknown = JSON.parse(text === '' ? '[]' : text);
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'object' && entry !== null) : [];
}
