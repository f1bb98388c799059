import { constants } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createSecureServer, Http2ServerRequest, type Http2SecureServer } from 'node:http2';
import type { Duplex } from 'node:stream';
import { getCiphers, type SecureContextOptions, type TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import { messageOf, TubeletError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { bind, portOf } from './bind.ts';
import { securePeer, upgradeExchange, type Incoming, type Outgoing, type Peer } from './exchange.ts';
import { paceHandshakes } from './handshake-pace.ts';
import { OpenConnections } from './open-connections.ts';
import type { RequestPipeline } from './pipeline.ts';
import type { ClientAuthorities, ServingIdentity } from './ports.ts';
import { refuseClients } from './refuse-clients.ts';
import { secureServerOptions, setHeaderBytes, setHttp1Limits } from './secure-options.ts';
import { SessionWatch } from './session-watch.ts';
import { tlsParameters, type TlsParameters, type TlsSettings } from './tls-parameters.ts';
import { UnansweredRequests } from './unanswered-requests.ts';

interface SecureListenerDeps {
  readonly address: string;
  readonly port: number;
  readonly pipeline: RequestPipeline;
  readonly identity: ServingIdentity;
  /** Clients are asked for a certificate, which they may decline, only when there is this. */
  readonly clientAuthorities?: ClientAuthorities | undefined;
  readonly tls: TlsSettings;
  readonly clock: Clock;
  readonly log: Log;
}

const listener = 'secure';

/**
 * The secured port: HTTP/1.1 with upgrades, and HTTP/2. Certificate and authorities are replaced while it runs; new
 * connections see the new ones, and whom to trust is decided request by request anyhow.
 */
export class SecureListener implements Component {
  readonly name = `http-${listener}`;
  readonly #deps: SecureListenerDeps;
  readonly #connections: OpenConnections;
  /** Who is at the other end of an HTTP/1.1 socket or an HTTP/2 session. */
  readonly #peers = new WeakMap<object, Peer>();
  readonly #watches = new WeakMap<object, SessionWatch>();
  readonly #unanswered: UnansweredRequests;
  readonly #quiet: (() => void)[] = [];
  #server: Http2SecureServer | undefined;

  constructor(deps: SecureListenerDeps) {
    this.#deps = deps;
    this.#unanswered = new UnansweredRequests(deps.pipeline.limits.unanswered);
    this.#connections = new OpenConnections({ ...deps, listener, limits: deps.pipeline.limits });
  }

  async start(_signal?: AbortSignal): Promise<void> {
    const { address, port, tls, log, identity, clientAuthorities, pipeline } = this.#deps;
    const parameters = tlsParameters(tls, new Set(getCiphers()));
    if (parameters.missing.length > 0)
      log.warn('Cipher suites are left out that the TLS library does not have', { suites: parameters.missing });
    let server: Http2SecureServer;
    try {
      const asks = clientAuthorities !== undefined;
      server = createSecureServer(secureServerOptions(this.#context(parameters), pipeline.limits, asks));
    } catch (cause) {
      throw new TubeletError('invalid', `the secured port cannot be set up: ${messageOf(cause)}`, { cause });
    }
    setHttp1Limits(server, pipeline.limits);
    paceHandshakes(server, (socket) => this.#connections.of(socket)?.spoke());
    this.#listenTo(server);
    await bind(server, { listener, at: { address, port }, log });
    this.#server = server;
    const replace = (): void => this.#replace(server, parameters);
    this.#quiet.push(identity.onChange(replace));
    if (clientAuthorities !== undefined) this.#quiet.push(clientAuthorities.onChange(replace));
    // Whatever changed while the port was being bound.
    replace();
  }

  async stop(): Promise<void> {
    for (const quiet of this.#quiet.splice(0)) quiet();
    if (this.#server !== undefined) await this.#connections.close(this.#server);
  }

  /** The port in fact, where any free one was asked for. */
  get port(): number {
    return portOf(this.#server, this.#deps.port);
  }

  #context({ minVersion, ciphers }: TlsParameters): SecureContextOptions {
    const { identity, clientAuthorities } = this.#deps;
    const pair = identity.current();
    return {
      ...(pair !== undefined && { cert: pair.certificate, key: pair.key.reveal() }),
      // An empty list: otherwise it would be the authorities of the whole world.
      ca: clientAuthorities === undefined || clientAuthorities.pem() === '' ? [] : clientAuthorities.pem(),
      minVersion,
      ciphers,
      honorCipherOrder: true,
      // A resumed session brings no certificates but the client's own, so that those between could not be checked.
      secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
    };
  }

  #replace(server: Http2SecureServer, parameters: TlsParameters): void {
    try {
      server.setSecureContext(this.#context(parameters));
    } catch (error) {
      this.#deps.log.error(error, 'New certificates cannot be used; those before stay', { listener });
    }
  }

  #listenTo(server: Http2SecureServer): void {
    const { pipeline, clock, log } = this.#deps;
    this.#connections.follow(server);
    // Before the server's own listener: it may find a request in the same moment.
    let newest: { readonly socket: TLSSocket; readonly peer: Peer } | undefined;
    server.prependListener('secureConnection', (socket) => {
      socket.on('error', () => {});
      const peer = securePeer(socket, this.#connections.of(socket));
      newest = { socket, peer };
      this.#peers.set(socket, peer);
      this.#recognise(peer);
      const { headerBytes, authenticatedHeaderBytes } = pipeline.limits;
      setHeaderBytes(server, peer.connection?.isAuthenticated === true ? authenticatedHeaderBytes : headerBytes);
    });
    // In the same moment as the connection, where it is one for HTTP/2; the session would not give it out.
    server.on('session', (session) => {
      session.on('error', () => {});
      if (newest === undefined) return;
      const { socket, peer } = newest;
      newest = undefined;
      this.#peers.set(session, peer);
      this.#watches.set(session, new SessionWatch({ session, socket, clock, limits: pipeline.limits }));
      this.#unanswered.watch(session, socket, peer.connection);
      peer.connection?.whenAuthenticated(() => {
        if (!session.destroyed) session.settings({ maxHeaderListSize: pipeline.limits.authenticatedHeaderBytes });
      });
    });
    server.on('request', (request, response) => this.#serveSoon(request, response, false));
    server.on('checkContinue', (request, response) => this.#serveSoon(request, response, true));
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const peer = this.#peers.get(request.socket);
      const exchange = peer && upgradeExchange(listener, request, socket, head, peer);
      if (exchange === undefined) socket.destroy();
      else void pipeline.serve(exchange);
    });
    refuseClients(server, clock, (socket) => this.#connections.of(socket)?.refused());
    server.on('tlsClientError', (error, socket) => {
      log.debug(3, 'TLS handshake failed', { address: socket.remoteAddress, err: messageOf(error) });
    });
  }

  /** A good certificate is as much as a good request: the connection is known before it asks for anything. */
  #recognise(peer: Peer): void {
    const caller = this.#deps.clientAuthorities?.callerOf(peer);
    if (caller !== undefined) peer.connection?.authenticated(caller.name);
  }

  /** Over HTTP/2 what is asked for and given up in one breath costs its sender nothing; it must not cost us more. */
  #serveSoon(request: Incoming, response: Outgoing, expectsContinue: boolean): void {
    if (!(request instanceof Http2ServerRequest)) {
      if (this.#unanswered.isTooMany(this.#peers.get(request.socket)?.connection)) request.socket.destroy();
      else this.#serve(request, response, expectsContinue);
      return;
    }
    setImmediate(() => {
      if (!request.stream.closed) this.#serve(request, response, expectsContinue);
    });
  }

  #serve(request: Incoming, response: Outgoing, expectsContinue: boolean): void {
    const connection: object | undefined =
      request instanceof Http2ServerRequest ? request.stream.session : request.socket;
    const peer = connection === undefined ? undefined : this.#peers.get(connection);
    if (connection === undefined || peer === undefined) {
      response.destroy();
      return;
    }
    const { pipeline } = this.#deps;
    const served = pipeline.serve({ listener, request, response, peer, expectsContinue, upgrade: undefined });
    void this.#watches.get(connection)?.serve(served);
  }
}
