import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { addressKey } from '../address-key.ts';
import { awaitHello } from './client-hello.ts';

/** About three milliseconds of handshakes before the event loop goes on with other work. */
const maxPerTurn = 3;

/**
 * Lets a server begin a few TLS handshakes in one turn of the event loop, so that hundreds of clients who come at once,
 * as after a network is mended, do not hold up everything else.
 *
 *   accepted ──first message is whole──> waiting ──its turn──> begun
 *
 * A client that says nothing never waits in line, and costs a socket and no TLS. Addresses take turns, so that none waits
 * for the handshakes of another. Of one address the newest is first: when there are more than can be served, the client
 * that came last is the one that still waits for its answer.
 */
export function paceHandshakes(server: EventEmitter, onHello: (socket: Socket) => void = () => {}): void {
  const begin = server.listeners('connection');
  server.removeAllListeners('connection');
  /** In the order of their turns. */
  const waiting = new Map<string, Socket[]>();
  let left = maxPerTurn;

  const next = (): Socket | undefined => {
    // An address that is put back stands at the end, and comes again.
    for (const [address, sockets] of waiting) {
      const socket = sockets.pop();
      waiting.delete(address);
      if (sockets.length > 0) waiting.set(address, sockets);
      if (socket !== undefined && !socket.destroyed) return socket;
    }
    return undefined;
  };
  const advance = (): void => {
    while (left > 0) {
      const socket = next();
      if (socket === undefined) return;
      if (left-- === maxPerTurn) setImmediate(nextTurn);
      for (const listener of begin) Reflect.apply(listener, server, [socket]);
    }
  };
  const nextTurn = (): void => {
    left = maxPerTurn;
    advance();
  };

  server.on('connection', (socket: Socket) => {
    awaitHello(socket, () => {
      onHello(socket);
      const address = addressKey(socket.remoteAddress ?? '');
      const sockets = waiting.get(address);
      if (sockets === undefined) waiting.set(address, [socket]);
      else sockets.push(socket);
      advance();
    });
  });
}
