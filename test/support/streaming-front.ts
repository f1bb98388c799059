import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { silentLog } from '../../src/base/log.ts';
import type { Handler, RouteRequest } from '../../src/server/route.ts';
import { attachHandler } from '../../src/server/routes/attach.ts';
import { execHandler } from '../../src/server/routes/exec.ts';
import { portForwardHandler } from '../../src/server/routes/port-forward.ts';
import { handOver, type SessionDeps } from '../../src/server/streaming/index.ts';
import { plainAnswer } from '../../src/server/streaming/upgrade-message.ts';
import { clock } from './real-wait.ts';

/** The sessions of the agent's server and nothing else of it: no TLS, nobody to authenticate. */
export class StreamingFront {
  readonly #server: Server = createServer();
  readonly #handlers: Readonly<Record<string, Handler>>;
  readonly #stop = new AbortController();
  readonly #sessions = new Set<Promise<void>>();

  constructor(deps: SessionDeps) {
    this.#handlers = {
      exec: execHandler(deps),
      attach: attachHandler(deps),
      portForward: portForwardHandler(deps),
    };
    this.#server.on('upgrade', (request, socket, head) => {
      const session = this.#serve(request, socket, head);
      this.#sessions.add(session);
      void session.finally(() => this.#sessions.delete(session));
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Sessions under way. */
  get open(): number {
    return this.#sessions.size;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#sessions);
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://node');
    const [, verb = '', namespace = '', pod = '', container = ''] = pathname.split('/');
    const asked: RouteRequest = {
      listener: 'secure',
      method: request.method ?? '',
      path: pathname,
      query: searchParams,
      params: { namespace, pod, container },
      headers: request.headers,
      body: Buffer.alloc(0),
      caller: undefined,
      wantsUpgrade: true,
      signal: this.#stop.signal,
    };
    const answer = await this.#handlers[verb]?.(asked);
    if (answer?.kind === 'handOver') {
      const deps = { log: silentLog, clock, idleMs: 0 };
      await handOver(deps, request, socket, head, request.headers, answer.to, this.#stop.signal);
      return;
    }
    const [status, body] = answer?.kind === 'page' ? [answer.status, answer.body] : [404, 'no such page'];
    socket.end(plainAnswer(status, Buffer.from(body).toString()));
  }
}
