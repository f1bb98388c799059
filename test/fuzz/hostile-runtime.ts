import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { systemClock } from '../../src/base/system-clock.ts';
import type { Cri } from '../../src/cri/index.ts';
import type { FakeCri } from '../../src/testing/fake-cri/index.ts';
import { nodeName } from '../support/agent-settings.ts';

const opened = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n';
const answer = (status: string, body: string, ...headers: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, `Content-Length: ${body.length}`, ...headers, '', body].join('\r\n');
const clock = systemClock();

/** What a streaming server does with a connection once it has the head of the request. */
type Manner = (socket: Socket) => void;

const manners = {
  /** As it should be: what comes goes back, and the end too. */
  good: (socket) => {
    socket.write(opened);
    socket.pipe(socket);
  },
  chatty: (socket) => {
    socket.write(opened);
    socket.end(Buffer.alloc(600_000, 'flood '));
  },
  silent: (socket) => void socket.write(opened),
  hangs: () => {},
  nonsense: (socket) => void socket.end(Buffer.from('deadbeef0d0a0d0affff00'.repeat(4), 'hex')),
  redirects: (socket) => void socket.end(answer('302 Found', '', 'Location: http://elsewhere/')),
  refuses: (socket) => void socket.end(answer('403 Forbidden', 'no session for you')),
  fails: (socket) => void socket.end(answer('500 Internal Server Error', 'the runtime failed')),
  overloaded: (socket) => void socket.end(answer('503 Service Unavailable', 'the runtime is busy', 'Retry-After: 1')),
  dies: (socket) => void socket.resetAndDestroy(),
  'dies-later': (socket) => {
    socket.write(`${opened}first words`);
    clock.after(20, () => socket.resetAndDestroy());
  },
  drips: (socket) => drip(socket, Buffer.from(opened)),
  'stops-halfway': (socket) => void socket.end('HTTP/1.1 1'),
  continues: (socket) => void socket.write(`HTTP/1.1 100 Continue\r\n\r\n${opened}`),
  endless: (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    flood(socket, Buffer.from(`4000\r\n${'x'.repeat(0x4000)}\r\n`));
  },
  'old-version': (socket) => void socket.end('HTTP/1.0 101 Switching\r\n\r\n'),
  headless: (socket) => void socket.end(`HTTP/1.1 101 Switching Protocols\r\n${'X-A: b\r\n'.repeat(20)}`),
} as const satisfies Record<string, Manner>;

/** What the runtime itself says when it is asked for a session. */
const urls: Readonly<Record<string, (port: number) => string>> = {
  'no-url': () => '',
  'odd-url': () => 'not an address',
  'other-scheme': () => 'ftp://127.0.0.1/x',
  'nobody-there': () => 'http://127.0.0.1:1/x',
  'no-socket': () => 'http+unix://%2fnowhere%2fat.sock/x',
  'relative-socket': () => 'http+unix://at.sock/x',
  'tls-to-plain': (port) => `https://127.0.0.1:${port}/good`,
};

const streamingModes: readonly string[] = Object.keys(manners);
/** Containers whose sessions the runtime does not open. */
const callModes = ['exhausted', 'missing', 'unavailable', 'broken', 'never'] as const;
export const allModes: readonly string[] = [...streamingModes, ...Object.keys(urls), ...callModes];

/** A streaming server, and a runtime that sends people to it. What a container is called says how it treats them. */
export class HostileRuntime {
  readonly #server: Server = createServer({ allowHalfOpen: true });
  readonly #sockets = new Set<Socket>();
  /** Told of each request that arrives. */
  onHead: (head: string) => void = () => {};

  async start(): Promise<void> {
    this.#server.on('connection', (socket) => this.#serve(socket));
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => void this.#server.close(resolve));
  }

  /** Connections that are open. */
  get open(): number {
    return this.#sockets.size;
  }

  /** The runtime's client, whose sessions lead here. */
  over(fake: FakeCri): Cri {
    const session = async (open: () => Promise<{ url: string }>, mode: string): Promise<{ url: string }> => {
      await open();
      return { url: this.#url(mode) };
    };
    const pod = (id: string): string => ownName(fake.state.sandbox(id).config.metadata?.name ?? '');
    const container = (id: string): string => fake.state.container(id).config.metadata?.name ?? '';
    return {
      ...fake,
      exec: (request, options) => session(() => fake.exec(request, options), container(request.containerId)),
      attach: (request, options) => session(() => fake.attach(request, options), container(request.containerId)),
      portForward: (request, options) => session(() => fake.portForward(request, options), pod(request.podSandboxId)),
    };
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #url(mode: string): string {
    const { port } = this;
    return urls[mode]?.(port) ?? `http://127.0.0.1:${port}/${mode}`;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    let head = '';
    const onData = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      if (!head.includes('\r\n\r\n') && head.length < 2_000_000) return;
      socket.off('data', onData);
      this.onHead(head);
      const mode = /^\S+ \/([\w-]+)/.exec(head)?.[1] ?? '';
      (Object.hasOwn(manners, mode) ? manners[mode as keyof typeof manners] : manners.nonsense)(socket);
      if (mode !== 'good') socket.resume();
    };
    socket.on('data', onData);
    // Whoever has heard the other side's end says goodbye as well, but for those that hang on purpose.
    socket.on('end', () => clock.after(50, () => socket.destroy()));
  }
}

/** The name of a static pod without that of its node. */
const ownName = (name: string): string => name.replace(new RegExp(`-${nodeName}$`), '');

function drip(socket: Socket, bytes: Buffer): void {
  let at = 0;
  const next = (): void => {
    if (socket.destroyed || at >= bytes.length) return;
    socket.write(bytes.subarray(at, ++at));
    clock.after(2, next);
  };
  next();
}

function flood(socket: Socket, chunk: Buffer): void {
  const pour = (): void => {
    while (!socket.destroyed && socket.writable && socket.write(chunk));
  };
  socket.on('drain', pour);
  pour();
}
