import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { runCommand } from '../../../src/up/index.ts';
import { programs } from '../../../src/up/programs.ts';
import type { ControlPlane } from './control-plane.ts';

export interface OpenAddress {
  close(): Promise<void>;
}

/**
 * Lets pods reach the API server, which listens on loopback only, by the address of the service `kubernetes`: the node's
 * bridge takes the address on, and what arrives there is handed over. Nothing is left behind by a kill: the address goes
 * with the bridge.
 */
export async function openServiceAddress(plane: ControlPlane, bridge: string): Promise<OpenAddress> {
  await runCommand(programs.ip, ['address', 'replace', `${plane.serviceAddress}/32`, 'dev', bridge]);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };
  const server = createServer((incoming) => {
    const outgoing = keep(connect(plane.apiServerPort, '127.0.0.1'));
    keep(incoming).pipe(outgoing).pipe(incoming);
    // Whichever end breaks takes the other with it, as it would without us.
    incoming.on('error', () => outgoing.destroy()).on('close', () => outgoing.destroy());
    outgoing.on('error', () => incoming.destroy()).on('close', () => incoming.destroy());
  });
  server.listen(443, plane.serviceAddress);
  await once(server, 'listening');
  return {
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
