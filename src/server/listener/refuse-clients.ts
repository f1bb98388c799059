import { IncomingMessage } from 'node:http';
import { Socket, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { Incoming, Outgoing } from './exchange.ts';

const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

interface UnderWay {
  readonly request: IncomingMessage;
  readonly response: Outgoing;
}

/** So long a client that is refused may go on sending: a client that is cut off in the middle of it does not read the answer. */
const lingerMs = 1_000;

/** Answers clients whose HTTP/1.1 cannot be parsed, is too large or too slow with the reason, and ends their connection. */
export function refuseClients(server: Server, clock: Pick<Clock, 'after'>, onRefused: (socket: Socket) => void): void {
  const refused = new WeakSet<Duplex>();
  const connections = new WeakMap<object, Set<UnderWay>>();
  const follow = (request: Incoming, response: Outgoing): void => {
    if (!(request instanceof IncomingMessage)) return;
    const underWay = connections.get(request.socket) ?? new Set();
    connections.set(request.socket, underWay);
    const one = { request, response };
    underWay.add(one);
    response.once('close', () => underWay.delete(one));
  };
  server.prependListener('request', follow);
  server.prependListener('checkContinue', follow);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // Of the same socket, which is read to its end.
    if (refused.has(socket)) return;
    const [first, ...others] = connections.get(socket) ?? [];
    const status = others.length === 0 && isMeant(first) ? statusOf(error) : undefined;
    if (status === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    if (socket instanceof Socket) onRefused(socket);
    refuse(status, socket, clock);
  });
}

/**
 * Whether a refusal would be taken for what it is. Once a request has come whole, what is wrong stands behind it, and the
 * client waits for its answer first; and whatever is written into an answer that has begun becomes part of it.
 */
function isMeant(underWay: UnderWay | undefined): boolean {
  return underWay === undefined || !(underWay.request.complete || underWay.response.headersSent);
}

function statusOf({ code = '' }: NodeJS.ErrnoException): string | undefined {
  return refusals[code] ?? (code.startsWith('HPE_') ? '400 Bad Request' : undefined);
}

function refuse(status: string, socket: Duplex, clock: Pick<Clock, 'after'>): void {
  // The parser has what it needs; a listener of ours takes the connection from it.
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  // Without a body: it may be the answer to HEAD, which has none.
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.once('end', () => socket.destroy());
  const cancel = clock.after(lingerMs, () => socket.destroy());
  socket.once('close', cancel);
}
