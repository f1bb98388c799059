import { IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
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

/** Clients of a server that are not understood over HTTP/1.1, too large or too slow are told so, and ended. */
export function refuseClients(server: Server): void {
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
    const [first, ...others] = connections.get(socket) ?? [];
    if (others.length === 0 && isMeant(first)) refuse(error, socket);
    else socket.destroy();
  });
}

/**
 * Whether a refusal would be taken for what it is. Once a request has come whole, what is wrong stands behind it, and the
 * client waits for its answer first; and whatever is written into an answer that has begun becomes part of it.
 */
function isMeant(underWay: UnderWay | undefined): boolean {
  return underWay === undefined || !(underWay.request.complete || underWay.response.headersSent);
}

function refuse({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  const status = refusals[code] ?? (code.startsWith('HPE_') ? '400 Bad Request' : undefined);
  if (status === undefined || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = `${status}\n`;
  const head = ['Connection: close', 'Content-Type: text/plain; charset=utf-8', `Content-Length: ${body.length}`];
  socket.end(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
