import { TubeletError } from '../base/errors.ts';
import { openConnection, type ConnectionOptions } from './open-connection.ts';
import { Peer } from './peer.ts';

export interface DialOptions extends Omit<ConnectionOptions, 'bus'> {
  /** Sockets of the bus, the first one first. */
  readonly sockets: readonly string[];
}

/** A program on the bus, which need not run yet. */
export async function dialBus(name: string, { sockets, ...options }: DialOptions): Promise<Peer> {
  let failure: unknown = new TubeletError('unsupported', 'no address of the bus is a unix socket');
  for (const socket of sockets) {
    try {
      const connection = await openConnection(socket, { ...options, bus: true });
      const peer = new Peer(connection, name);
      try {
        await peer.follow();
        return peer;
      } catch (error) {
        peer.close();
        throw error;
      }
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** A program that serves a socket of its own. */
export async function dialProgram(socket: string, options: Omit<ConnectionOptions, 'bus'>): Promise<Peer> {
  return new Peer(await openConnection(socket, { ...options, bus: false }), undefined);
}
