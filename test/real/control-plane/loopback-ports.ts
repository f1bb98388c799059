import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { errnoOf } from '../../../src/up/process-table.ts';

/**
 * Below the range that the kernel takes the ports of outgoing connections from, and below that of node ports. A client
 * that knocks again and again at a port of that range while the server is away will one day be given that very port,
 * connect to itself, and keep the server from coming back.
 */
const first = 20_000;
const count = 10_000;

/** Ports of the loopback address that are free now. All are held until the last is known, so that they differ. */
export async function loopbackPorts(wanted: number): Promise<readonly number[]> {
  const held: Server[] = [];
  const ports: number[] = [];
  // Two runs that start together begin at different places.
  for (let port = randomInt(count), tries = 0; ports.length < wanted; port++, tries++) {
    if (tries === count) throw new Error(`no ${wanted} free ports from ${first} to ${first + count - 1}`);
    const candidate = first + (port % count);
    const server = await tryListen(candidate);
    if (server === undefined) continue;
    held.push(server);
    ports.push(candidate);
  }
  for (const server of held) await new Promise((resolve) => server.close(resolve));
  return ports;
}

async function tryListen(port: number): Promise<Server | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  } catch (error) {
    if (errnoOf(error) === 'EADDRINUSE') return undefined;
    throw error;
  }
}
