import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';

/** One end of a connection that remembers what it was sent. Nothing is read while `paused`. */
export class StreamEnd {
  readonly socket: Socket;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #ended = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
    });
    socket.on('end', () => (this.#ended = true));
    // What is wrong shows by the close.
    socket.on('error', () => {});
  }

  get text(): string {
    return this.bytes.toString('latin1');
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get count(): number {
    return this.#bytes;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Resolves when the condition holds; it is asked again whenever something happens to the socket. */
  async until(what: string, condition: () => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const events = ['data', 'end', 'close', 'finish', 'drain'] as const;
      const look = (): void => {
        if (condition()) done(resolve);
        else if (this.socket.closed) done(() => reject(new Error(`closed before ${what}: ${this.text.slice(0, 400)}`)));
      };
      const done = (then: () => void): void => {
        for (const event of events) this.socket.off(event, look);
        then();
      };
      for (const event of events) this.socket.on(event, look);
      look();
    });
  }

  received(text: string): Promise<void> {
    return this.until(`"${text}" came`, () => this.text.includes(text));
  }

  /** The other side has ended its direction. */
  heardEnd(): Promise<void> {
    return this.until('the end', () => this.#ended);
  }

  /** Nothing more will come, be it by an end or by a break. */
  over(): Promise<void> {
    return this.until('the end', () => this.#ended || this.socket.closed);
  }

  closed(): Promise<void> {
    return this.until('the close', () => this.socket.closed);
  }
}

/** A server whose connections the test answers byte by byte, in the place of a runtime's streaming server. */
export class ByteServer {
  readonly #server: Server = createServer({ allowHalfOpen: true });
  readonly #waiting: ((end: StreamEnd) => void)[] = [];
  readonly #arrived: StreamEnd[] = [];
  readonly sockets = new Set<Socket>();

  async start(path?: string): Promise<void> {
    this.#server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      const end = new StreamEnd(socket);
      const next = this.#waiting.shift();
      if (next === undefined) this.#arrived.push(end);
      else next(end);
    });
    await new Promise<void>((resolve) => {
      if (path === undefined) this.#server.listen(0, '127.0.0.1', resolve);
      else this.#server.listen(path, resolve);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path: string): URL {
    return new URL(`http://127.0.0.1:${this.port}${path}`);
  }

  /** The next connection. */
  next(): Promise<StreamEnd> {
    const end = this.#arrived.shift();
    return end === undefined ? new Promise((resolve) => void this.#waiting.push(resolve)) : Promise.resolve(end);
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}

type Upgraded = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<void>;

/** An HTTP server of which only upgrades matter: what they are answered with is the test's business. */
export class UpgradeServer {
  readonly #server: HttpServer;
  readonly #tls: boolean;
  readonly #sessions = new Set<Promise<void>>();
  readonly #clients = new Set<StreamEnd>();
  readonly sockets = new Set<Socket>();

  constructor(onUpgrade: Upgraded, tls?: { readonly key: string; readonly cert: string }) {
    this.#tls = tls !== undefined;
    this.#server = tls === undefined ? createHttpServer() : createHttpsServer(tls);
    this.#server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    this.#server.on('upgrade', (request, socket, head) => {
      const session = onUpgrade(request, socket, head);
      this.#sessions.add(session);
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Opens a connection to it. */
  connect(): StreamEnd {
    const socket = connect({ port: this.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const end = new StreamEnd(this.#tls ? connectTls({ socket, rejectUnauthorized: false }) : socket);
    this.#clients.add(end);
    return end;
  }

  /** Whoever is still connected goes. */
  leaveAll(): void {
    for (const { socket } of this.#clients) socket.destroy();
  }

  /** Every session that was begun has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#sessions);
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => void this.#server.close(resolve));
  }
}
