import type { Http2SecureServer, SecureServerOptions } from 'node:http2';
import type { SecureContextOptions } from 'node:tls';
import type { ServerLimits } from './limits.ts';

/**
 * A server for HTTP/1.1 and HTTP/2. Streams that are opened and reset again and again end the connection: the HTTP/2
 * library counts those by itself, as it does frames that make no sense.
 */
export function secureServerOptions(
  context: SecureContextOptions,
  limits: ServerLimits,
  asksForCertificate: boolean,
): SecureServerOptions {
  return {
    ...context,
    allowHTTP1: true,
    // Plain servers of Node have it by themselves; without it small answers wait for the client's acknowledgement.
    noDelay: true,
    handshakeTimeout: limits.handshakeMs,
    // Certificates are asked for and never required: a token will do, and who may do what is decided later.
    requestCert: asksForCertificate,
    rejectUnauthorized: false,
    settings: {
      enablePush: false,
      maxConcurrentStreams: limits.streamsPerConnection,
      maxHeaderListSize: limits.headerBytes,
    },
    maxHeaderListPairs: limits.headerCount,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    maxOutstandingPings: 10,
  };
}

/** The limits of HTTP/1.1 are properties of a server for both; its options are those of HTTP/2 alone. */
export function setHttp1Limits(server: Http2SecureServer, limits: ServerLimits): void {
  Object.assign(server, {
    maxHeaderSize: limits.headerBytes,
    maxHeadersCount: limits.headerCount,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    keepAliveTimeout: limits.idleMs,
    requireHostHeader: true,
  });
}

/**
 * The next connection over HTTP/1.1 may send that much in its headers: Node takes the limit from the server when a
 * connection begins to speak HTTP, and it stays. So it is known in time only of clients with a certificate.
 */
export function setHeaderBytes(server: Http2SecureServer, bytes: number): void {
  Object.assign(server, { maxHeaderSize: bytes });
}
