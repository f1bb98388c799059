import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Component } from '../../base/component.ts';
import type { Log } from '../../base/log.ts';
import type { ListenerName } from '../route.ts';
import { bind, OpenSockets, portOf, type ListenPlace } from './bind.ts';
import { plainPeer, upgradeExchange } from './exchange.ts';
import type { RequestPipeline } from './pipeline.ts';
import { refuseClients } from './refuse-clients.ts';

export interface PlainListenerDeps {
  readonly listener: Exclude<ListenerName, 'secure'>;
  readonly at: ListenPlace;
  readonly pipeline: RequestPipeline;
  readonly log: Log;
}

/** A listener without TLS, for pages that are open to everybody who reaches it: by the network, or by a file. */
export class PlainListener implements Component {
  readonly name: string;
  readonly #deps: PlainListenerDeps;
  readonly #sockets = new OpenSockets();
  #server: Server | undefined;

  constructor(deps: PlainListenerDeps) {
    this.#deps = deps;
    this.name = `http-${deps.listener}`;
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
    server.maxConnections = limits.connections;
    this.#sockets.follow(server);
    const serve = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void =>
      void pipeline.serve({
        listener,
        request,
        response,
        peer: plainPeer(request),
        expectsContinue,
        upgrade: undefined,
      });
    server.on('request', (request, response) => serve(request, response, false));
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => serve(request, response, true));
    server.on('upgrade', (request, socket, head) => {
      const exchange = upgradeExchange(listener, request, socket, head, plainPeer(request));
      if (exchange === undefined) socket.destroy();
      else void pipeline.serve(exchange);
    });
    refuseClients(server);
    await bind(server, this.#deps);
    this.#server = server;
  }

  async stop(): Promise<void> {
    if (this.#server !== undefined) await this.#sockets.close(this.#server);
  }

  /** The port in fact, where any free one was asked for. */
  get port(): number {
    const { at } = this.#deps;
    return 'port' in at ? portOf(this.#server, at.port) : 0;
  }
}
