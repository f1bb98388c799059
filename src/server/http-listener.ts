import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TubeletError, type ErrorKind } from '../base/errors.ts';
import type { Component } from '../base/component.ts';
import type { Log } from '../base/log.ts';
import { text, type ListenerName, type Route, type RouteResponse } from './route.ts';

export interface HttpListenerDeps {
  readonly listener: ListenerName;
  readonly address: string;
  readonly port: number;
  readonly routes: readonly Route[];
  readonly log: Log;
}

const maxHeaderBytes = 1 << 20;
const idleMs = 90_000;
/** A client that sends its request slower than this is not served. */
const requestMs = 30_000;

/** One plain HTTP listener with the routes that name it. */
export class HttpListener implements Component {
  readonly name: string;
  readonly #deps: HttpListenerDeps;
  readonly #routes: ReadonlyMap<string, Route>;
  #server: Server | undefined;

  constructor(deps: HttpListenerDeps) {
    this.#deps = deps;
    this.name = `http-${deps.listener}`;
    this.#routes = new Map(
      deps.routes.filter(({ listeners }) => listeners.includes(deps.listener)).map((route) => [route.path, route]),
    );
  }

  /** Returns when the port is bound; a port that cannot be had is an error that says whose it is. */
  async start(): Promise<void> {
    const { address, port, log, listener } = this.#deps;
    const server = createServer({ maxHeaderSize: maxHeaderBytes, requestTimeout: requestMs, keepAliveTimeout: idleMs });
    server.on('request', (request, response) => void this.#serve(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => reject(bindError(listener, address, port, cause)));
      server.listen(port, address, resolve);
    });
    server.removeAllListeners('error');
    server.on('error', (error) => log.error(error, 'HTTP listener failed', { listener }));
    this.#server = server;
    log.info('Listening', { listener, address, port: this.port });
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
      setImmediate(() => server.closeAllConnections());
    });
  }

  /** The port in fact, where any free one was asked for. */
  get port(): number {
    return (this.#server?.address() as AddressInfo | null)?.port ?? this.#deps.port;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let answer: RouteResponse;
    try {
      answer = await this.#answer(request);
    } catch (error) {
      this.#deps.log.error(error, 'Request failed', { path: request.url });
      answer = text(500, 'Internal Server Error\n');
    }
    if (answer.problem !== undefined) {
      this.#deps.log.debug(2, 'Request answered with a problem', { path: request.url, problem: answer.problem });
    }
    response.writeHead(answer.status, {
      'content-type': answer.contentType,
      'content-length': Buffer.byteLength(answer.body),
      'x-content-type-options': 'nosniff',
    });
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }

  async #answer(request: IncomingMessage): Promise<RouteResponse> {
    const url = parseUrl(request.url ?? '');
    if (url === undefined) return text(400, '400 Bad Request\n');
    const path = url.pathname.length > 1 ? url.pathname.replace(/\/+$/, '') : url.pathname;
    const route = this.#routes.get(path);
    if (route === undefined) return text(404, '404 page not found\n');
    if (!route.methods.some((method) => method === request.method)) return text(405, 'Method Not Allowed\n');
    return route.handle({ path, query: url.searchParams });
  }
}

function parseUrl(target: string): URL | undefined {
  try {
    // By itself, what begins with two slashes would be a host, and the rest of it a path that nobody asked for.
    return new URL(target.startsWith('/') ? `http://node${target}` : target, 'http://node');
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function bindError(listener: string, address: string, port: number, cause: NodeJS.ErrnoException): TubeletError {
  const kinds: Readonly<Record<string, ErrorKind>> = { EADDRINUSE: 'conflict', EACCES: 'denied' };
  const advice: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there; stop it or choose another port',
    EACCES: 'this user may not use that port; run as root or choose a port above 1023',
    EADDRNOTAVAIL: 'this machine does not have that address',
  };
  const code = cause.code ?? '';
  const why = advice[code] ?? cause.message;
  return new TubeletError(kinds[code] ?? 'internal', `cannot listen for ${listener} on ${address}:${port}: ${why}`, {
    cause,
  });
}
