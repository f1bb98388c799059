import {
  ServerResponse,
  validateHeaderValue,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { constants, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { chainOfPeer } from '../auth/peer-chain.ts';
import type { ListenerName } from '../route.ts';
import type { TrackedConnection } from './tracked-connection.ts';

/** Who is at the other end of a connection, as far as the connection shows it. */
export interface Peer {
  readonly address: string;
  /** The certificates it showed, in DER, leaf first. Nothing of ours has checked them yet. */
  readonly chain: readonly Buffer[];
  /** What the TLS library found of them: `ok`, or the code of its error. */
  readonly tlsVerdict: string;
  readonly connection: TrackedConnection | undefined;
}

export type Incoming = IncomingMessage | Http2ServerRequest;
export type Outgoing = ServerResponse | Http2ServerResponse;

/** A request with the way to answer it, whatever version of HTTP it came by. */
export interface Exchange {
  readonly listener: ListenerName;
  readonly request: Incoming;
  readonly response: Outgoing;
  readonly peer: Peer;
  /** The client waits for our word before it sends the body. */
  readonly expectsContinue: boolean;
  /** There is no more HTTP on this connection once it is answered. */
  readonly upgrade: UpgradeParts | undefined;
}

export interface UpgradeParts {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What came behind the headers already. */
  readonly head: Buffer;
  /** Nothing is answered through `response` any more: the socket has another owner. */
  detach(): void;
}

export function plainPeer(request: IncomingMessage, connection: TrackedConnection | undefined): Peer {
  return { address: request.socket.remoteAddress ?? '', chain: [], tlsVerdict: 'none', connection };
}

/** To be asked while the connection is new: a socket that has closed no longer has its address. */
export function securePeer(socket: TLSSocket, connection: TrackedConnection | undefined): Peer {
  const { authorized, authorizationError } = socket;
  return {
    address: socket.remoteAddress ?? '',
    chain: chainOfPeer(socket.getPeerCertificate(true)),
    // Declared as an error, but it is the code of one.
    tlsVerdict: authorized ? 'ok' : String(authorizationError ?? 'none'),
    connection,
  };
}

/**
 * An exchange of a request that wants to leave HTTP. Should it be answered with a page, the connection ends with it.
 * Nothing when an earlier request on the same connection is still to be answered: then the socket is not free.
 */
export function upgradeExchange(
  listener: ListenerName,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  peer: Peer,
): Exchange | undefined {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  try {
    response.assignSocket(request.socket);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_HTTP_SOCKET_ASSIGNED') return undefined;
    throw error;
  }
  // Not the connection itself while Node.js 26 still reads the request's body from that.
  socket.on('error', () => {});
  response.once('finish', () => socket.end(() => socket.destroy()));
  const detach = (): void => response.detachSocket(request.socket);
  return { listener, request, response, peer, expectsContinue: false, upgrade: { request, socket, head, detach } };
}

/** `flush`: at once, because the body may be long in coming; otherwise they travel with its beginning. */
export function sendHead(response: Outgoing, status: number, headers: OutgoingHttpHeaders, flush = false): void {
  if (response instanceof Http2ServerResponse) {
    // Over HTTP/2 Node would let line breaks through, and a proxy that passes them on over HTTP/1.1 would make headers of them.
    for (const [name, value] of Object.entries(headers)) validateHeaderValue(name, String(value));
    response.writeHead(status, headers);
  } else {
    response.writeHead(status, headers);
    if (flush) response.flushHeaders();
  }
}

/** Whether nothing can be answered any more. */
export function isClosed(response: Outgoing): boolean {
  return response.destroyed || (response instanceof Http2ServerResponse && response.stream.destroyed);
}

/** Ends an answer in a way that the client cannot take for its regular end. */
export function breakOff({ response, upgrade }: Exchange): void {
  if (upgrade !== undefined) upgrade.socket.destroy();
  else if (!(response instanceof Http2ServerResponse)) response.destroy();
  else if (!isClosed(response)) {
    response.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    response.stream.destroy();
  }
}

/** HTTP/2 keeps a request open whose body is not read; over HTTP/1.1 Node discards the rest. */
export function dropRest({ request, response }: Exchange): void {
  if (!(request instanceof Http2ServerRequest) || !(response instanceof Http2ServerResponse)) return;
  const { stream } = response;
  if (!stream.endAfterHeaders && !request.complete && !stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR);
}

/** The client has to connect anew after this answer, which was not begun yet. */
export function endConnectionAfter(response: Outgoing): void {
  if (response instanceof Http2ServerResponse) response.stream.session?.close();
  else response.shouldKeepAlive = false;
}

/** Headers without those of HTTP/2 that are none. */
export function plainHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
}

/** Whether a body follows the headers. */
export function hasBody({ request }: Exchange): boolean {
  if (request instanceof Http2ServerRequest) return !request.stream.endAfterHeaders;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || (length !== undefined && Number(length) > 0);
}
