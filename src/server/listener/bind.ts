import type { AddressInfo, Server } from 'node:net';
import { TubeletError, type ErrorKind } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { SocketFiles } from '../ports.ts';
import type { ListenerName } from '../route.ts';

/** A port of an address, or the path of a unix socket. */
export type ListenAddress =
  | { readonly address: string; readonly port: number }
  | { readonly path: string; readonly sockets: Pick<SocketFiles, 'removeSocket'> };

interface BindOptions {
  readonly listener: ListenerName;
  readonly at: ListenAddress;
  readonly log: Log;
}

/**
 * Connections that the kernel keeps until they are accepted; it allows fewer where net.core.somaxconn says so. One that
 * finds no room there tries again after a second.
 */
const backlog = 4_096;

/** Returns when the port is bound; a port that cannot be had is an error that says whose it is. */
export async function bind(server: Server, { listener, at, log }: BindOptions): Promise<void> {
  // What an agent that did not stop has left. Anything but a socket is not the agent's.
  if ('path' in at && !(await at.sockets.removeSocket(at.path)))
    throw new TubeletError('conflict', `cannot listen for ${listener} on ${at.path}: what is there is no socket`);
  await new Promise<void>((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void => reject(bindError(listener, at, cause));
    server.once('error', onError);
    const onListening = (): void => {
      server.off('error', onError);
      resolve();
    };
    if ('path' in at) listenPrivately(server, at.path, onListening);
    else server.listen({ port: at.port, host: at.address, backlog }, onListening);
  });
  server.on('error', (error) => log.error(error, 'HTTP listener failed', { listener }));
  const address = 'path' in at ? { path: at.path } : { address: at.address, port: portOf(server, at.port) };
  log.info('Listening', { listener, ...address });
}

/** Only this user may connect, also in the moment before a mode could be set: the node is made while listening. */
function listenPrivately(server: Server, path: string, onListening: () => void): void {
  const before = process.umask(0o177);
  try {
    server.listen({ path, backlog }, onListening);
  } finally {
    process.umask(before);
  }
}

/** The port in fact, where any free one was asked for. */
export function portOf(server: Server | undefined, asked: number): number {
  return (server?.address() as AddressInfo | null | undefined)?.port ?? asked;
}

function bindError(listener: string, at: ListenAddress, cause: NodeJS.ErrnoException): TubeletError {
  const address = 'path' in at ? at.path : `${at.address}:${at.port}`;
  const kinds: Readonly<Record<string, ErrorKind>> = { EADDRINUSE: 'conflict', EACCES: 'denied' };
  const advice: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there; stop it or choose another port',
    EACCES: 'this user may not use that port; run as root or choose a port above 1023',
    EADDRNOTAVAIL: 'this machine does not have that address',
  };
  const code = cause.code ?? '';
  const why = advice[code] ?? cause.message;
  return new TubeletError(kinds[code] ?? 'internal', `cannot listen for ${listener} on ${address}: ${why}`, {
    cause,
  });
}
