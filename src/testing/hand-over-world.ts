import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { handOver } from '../server/streaming/index.ts';
import { FakeClock } from './fake-clock.ts';
import { MemoryLog } from './memory-log.ts';
import { ByteServer, UpgradeServer, type StreamEnd } from './streaming-ends.ts';

export const accepted = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n';

/** A request for a session, as a client sends it. */
export function asks(more: readonly string[] = [], method = 'POST'): string {
  const line = `${method} /exec/default/web/main?command=sh HTTP/1.1`;
  return [line, 'Host: node', 'Upgrade: SPDY/3.1', 'Connection: Upgrade', ...more, '', ''].join('\r\n');
}

interface SessionEnds {
  readonly client: StreamEnd;
  readonly served: StreamEnd;
}

/** A client's side, a runtime's side, and the hand-over between them, over real sockets. */
export class HandOverWorld {
  readonly clock = new FakeClock();
  readonly log = new MemoryLog();
  readonly stop = new AbortController();
  runtime = new ByteServer();
  front = this.#frontOver();
  target: () => URL = () => this.runtime.url('/exec/token1?a=b');
  idleMs = 0;
  /** Sessions that have ended. */
  ended = 0;
  /** Listeners on the client's socket of the newest session. */
  listeners: () => number = () => 0;

  async start(): Promise<void> {
    await this.runtime.start();
    await this.front.start();
  }

  /** Clients come over TLS from now on. */
  async useTls(tls: { readonly key: string; readonly cert: string }): Promise<void> {
    await this.front.stop();
    this.front = this.#frontOver(tls);
    await this.front.start();
  }

  /** The runtime listens on a socket of the file system from now on. */
  async useSocket(path: string): Promise<void> {
    await this.runtime.stop();
    this.runtime = new ByteServer();
    await this.runtime.start(path);
  }

  /** A session that is open; what both were sent so far is the handshake. */
  async open(request = asks()): Promise<SessionEnds> {
    const client = this.front.connect();
    client.socket.write(request);
    const served = await this.runtime.next();
    await served.received('\r\n\r\n');
    served.socket.write(accepted);
    await client.received('\r\n\r\n');
    return { client, served };
  }

  /** Whatever a test did: the sockets of sessions are closed, their timers and their hold on the signal are gone. */
  async end(): Promise<void> {
    this.front.leaveAll();
    await this.front.settled();
    assert.equal(this.clock.pending(), 0, 'no timer is left');
    assert.equal(getEventListeners(this.stop.signal, 'abort').length, 0, 'the signal is let go');
    await Promise.all([this.front.stop(), this.runtime.stop()]);
    await this.clock.settle();
    const sockets = process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap');
    assert.equal(sockets.length, 0, 'no socket is left');
  }

  #frontOver(tls?: { readonly key: string; readonly cert: string }): UpgradeServer {
    return new UpgradeServer(async (request, socket, head) => {
      const { log, clock, idleMs } = this;
      const { authorization: _, ...headers } = request.headers;
      this.listeners = () => socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0);
      await handOver({ log, clock, idleMs }, request, socket, head, headers, this.target(), this.stop.signal);
      this.ended++;
    }, tls);
  }
}

/** The client goes away, and the runtime notices. */
export async function leave({ client, served }: SessionEnds): Promise<void> {
  client.socket.destroy();
  await served.over();
  served.socket.destroy();
  await served.closed();
}
