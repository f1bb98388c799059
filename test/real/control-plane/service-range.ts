import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { errnoOf } from '../../../src/up/process-table.ts';

/** Addresses for services that no other control plane of this machine uses, for as long as they are held. */
export interface ServiceRange {
  readonly cidr: string;
  /** Its first address: that of the service `kubernetes`. */
  readonly first: string;
  release(): Promise<void>;
}

/**
 * A /24 of 198.18.0.0/15, which is set aside for tests of networks: no route of the machine leads there. A node's bridge
 * takes its first address on (see service-address.ts), but only a while after the range is chosen, so that interfaces
 * cannot tell which ranges others are about to use. A socket with the range in its name does; it is in no folder, and the
 * kernel takes it back from a process that was killed.
 */
export async function holdServiceRange(propose: () => string = anyRange): Promise<ServiceRange> {
  for (let tries = 0; tries < 1_000; tries++) {
    const cidr = propose();
    const first = cidr.replace(/0\/24$/, '1');
    const held = await tryListen({ path: `\0tubelet-services-${cidr}` });
    if (held === undefined) continue;
    const release = (): Promise<void> => new Promise((resolve) => held.close(() => resolve()));
    if (!(await isOnThisMachine(first))) return { cidr, first, release };
    await release();
  }
  throw new Error('no free range for services in 198.18.0.0/15');
}

const anyRange = (): string => `198.${18 + randomInt(2)}.${randomInt(256)}.0/24`;

/** Asks the kernel: a list of interfaces leaves out those that are down, as a bridge without pods is. */
async function isOnThisMachine(address: string): Promise<boolean> {
  try {
    const server = await tryListen({ host: address, port: 0 });
    await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EADDRNOTAVAIL') return false;
    throw error;
  }
}

/** Nothing when somebody listens there already. */
async function tryListen(where: { path: string } | { host: string; port: number }): Promise<Server | undefined> {
  const server = createServer();
  try {
    server.listen(where);
    await once(server, 'listening');
    return server.unref();
  } catch (error) {
    if (errnoOf(error) === 'EADDRINUSE') return undefined;
    throw error;
  }
}
