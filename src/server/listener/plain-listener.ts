import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import type { Component } from '../../base/component.ts';
import type { Log } from '../../base/log.ts';
import type { ListenerName } from '../route.ts';
import { bind, portOf, type ListenAddress } from './bind.ts';
import { plainPeer, upgradeExchange, type Peer } from './exchange.ts';
import { OpenConnections } from './open-connections.ts';
import type { RequestPipeline } from './pipeline.ts';
import { refuseClients } from './refuse-clients.ts';
import { UnansweredRequests } from './unanswered-requests.ts';

interface PlainListenerDeps {
  readonly listener: Exclude<ListenerName, 'secure'>;
  readonly at: ListenAddress;
  readonly pipeline: RequestPipeline;
  readonly clock: Clock;
  readonly log: Log;
}

/** A listener without TLS, for pages that are open to every client that reaches it: by the network, or by a file. */
export class PlainListener implements Component {
  readonly name: string;
  readonly #deps: PlainListenerDeps;
  readonly #connections: OpenConnections;
  #server: Server | undefined;

  constructor(deps: PlainListenerDeps) {
    this.#deps = deps;
    this.name = `http-${deps.listener}`;
    this.#connections = new OpenConnections({ ...deps, limits: deps.pipeline.limits });
  }

  async start(_signal?: AbortSignal): Promise<void> {
    const { listener, pipeline } = this.#deps;
    const { limits } = pipeline;
    const server = createServer({
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkMs,
      keepAliveTimeout: limits.idleMs,
    });
    server.maxHeadersCount = limits.headerCount;
    this.#connections.follow(server);
    const unanswered = new UnansweredRequests(limits.unanswered);
    const peerOf = (request: IncomingMessage): Peer => plainPeer(request, this.#connections.of(request.socket));
    const serve = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
      const peer = peerOf(request);
      if (unanswered.isTooMany(peer.connection)) request.socket.destroy();
      else void pipeline.serve({ listener, request, response, peer, expectsContinue, upgrade: undefined });
    };
    server.on('request', (request, response) => serve(request, response, false));
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => serve(request, response, true));
    server.on('upgrade', (request, socket, head) => {
      const exchange = upgradeExchange(listener, request, socket, head, peerOf(request));
      if (exchange === undefined) socket.destroy();
      else void pipeline.serve(exchange);
    });
    refuseClients(server, this.#deps.clock, (socket) => this.#connections.of(socket)?.refused());
    await bind(server, this.#deps);
    this.#server = server;
  }

  async stop(): Promise<void> {
    if (this.#server !== undefined) await this.#connections.close(this.#server);
  }

  /** The port in fact, where any free one was asked for. */
  get port(): number {
    const { at } = this.#deps;
    return 'port' in at ? portOf(this.#server, at.port) : 0;
  }
}
