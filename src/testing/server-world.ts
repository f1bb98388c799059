import { request as requestPlain, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { connect as connectHttp2, type ClientHttp2Session, type SecureClientSessionOptions } from 'node:http2';
import { request as requestSecure } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { Masked } from '../base/masked.ts';
import { systemClock } from '../base/system-clock.ts';
import type { Caller, NodeAccess } from '../model/caller.ts';
import type { Credentials } from '../server/auth/ports.ts';
import {
  PlainListener,
  RequestPipeline,
  SecureListener,
  type AuditEntry,
  type BoundRoute,
  type ClientAuthorities,
  type HandOverFunction,
  type ServerLimits,
  type ServingIdentity,
  type ServingPair,
  type SwitchStates,
  type TlsSettings,
} from '../server/index.ts';
import { text, type Handler, type ListenerName, type RouteSpec, type StreamedAnswer } from '../server/route.ts';
import { Registry } from '../telemetry/index.ts';
import { MemoryLog } from './memory-log.ts';
import { TlsAuthority, type IssuedCertificate } from './tls-authority.ts';

export const allOn: SwitchStates = {
  debugging: true,
  systemLogs: true,
  profiling: true,
  debugFlags: true,
  checkpoint: true,
  statusz: true,
  flagz: true,
};

/** A page on all listeners, for tests that are not about any page in particular. */
export function aRoute(handler: Handler, change: Partial<RouteSpec> = {}): BoundRoute {
  const spec: RouteSpec = {
    path: '/hello',
    methods: ['GET', 'HEAD'],
    listeners: ['secure', 'readOnly', 'healthz'],
    right: { subresource: 'proxy' },
    bodyBytes: 0,
    limitMs: 60_000,
    streams: 'no',
    ...change,
  };
  return { spec, handler };
}

export interface ServerWorldOptions {
  readonly routes: readonly BoundRoute[];
  readonly clock?: Clock;
  readonly switches?: Partial<SwitchStates>;
  readonly limits?: Partial<ServerLimits>;
  readonly tls?: Partial<TlsSettings>;
  readonly fineGrained?: boolean;
  readonly upstreamVerbs?: boolean;
  /** Everybody is `admin` when it is left out. */
  readonly authenticate?: (credentials: Credentials, signal: AbortSignal) => Promise<Caller | undefined>;
  /** Whom a certificate names before there is a request; nobody when it is left out. */
  readonly callerOf?: ClientAuthorities['callerOf'];
  readonly allow?: (caller: Caller, access: NodeAccess) => boolean | Promise<boolean>;
  readonly handOver?: HandOverFunction;
  /** Which are opened; all of them when it is left out. */
  readonly listeners?: readonly ListenerName[];
  readonly port?: number;
  readonly withoutClientAuthorities?: boolean;
  readonly withoutCertificate?: boolean;
}

interface ServerAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A value that a test replaces and that tells of it. */
class Replaceable<T> {
  readonly listeners = new Set<() => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  current(): T {
    return this.#value;
  }

  replace(value: T): void {
    this.#value = value;
    for (const listener of this.listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

/** The server on real sockets, with a certificate authority for both sides. */
export class ServerWorld {
  readonly log = new MemoryLog();
  readonly registry = new Registry();
  readonly audited: AuditEntry[] = [];
  readonly asked: (NodeAccess & { readonly user: string })[] = [];
  readonly identity: Replaceable<ServingPair | undefined>;
  readonly clientPem: Replaceable<string>;
  readonly authority: TlsAuthority;
  readonly pipeline: RequestPipeline;
  readonly listeners = new Map<ListenerName, PlainListener | SecureListener>();

  private constructor(options: ServerWorldOptions, authority: TlsAuthority, pair: IssuedCertificate) {
    const { routes, limits = {}, clock = systemClock(), upstreamVerbs = false, fineGrained = true } = options;
    const { log, registry: metrics, asked, audited } = this;
    this.authority = authority;
    this.identity = new Replaceable<ServingPair | undefined>(
      options.withoutCertificate === true ? undefined : servingPair(pair),
    );
    this.clientPem = new Replaceable(authority.certificate);
    const admin: Caller = { name: 'admin', groups: ['system:authenticated'] };
    this.pipeline = new RequestPipeline({
      clock,
      log,
      metrics,
      routes,
      limits,
      switches: { ...allOn, ...options.switches },
      access: {
        fineGrained,
        upstreamVerbs,
        authenticator: { authenticate: options.authenticate ?? (async () => admin) },
        authorizer: {
          async authorize(caller, access) {
            asked.push({ user: caller.name, ...access });
            return { allowed: (await options.allow?.(caller, access)) ?? true };
          },
        },
      },
      handOver: options.handOver ?? (async (_deps, _request, socket) => void socket.destroy()),
      streamIdleMs: 1_000,
      onAudit: (entry) => audited.push(entry),
    });
    const at = { address: '127.0.0.1', port: options.port ?? 0 };
    const place = { pipeline: this.pipeline, clock, log };
    const identity: ServingIdentity = this.identity;
    const authorities: ClientAuthorities = {
      pem: () => this.clientPem.current(),
      callerOf: (shown) => options.callerOf?.(shown),
      onChange: (listener) => this.clientPem.onChange(listener),
    };
    for (const listener of options.listeners ?? (['secure', 'readOnly', 'healthz'] as const)) {
      if (listener !== 'secure') this.listeners.set(listener, new PlainListener({ ...place, at, listener }));
      else
        this.listeners.set(
          listener,
          new SecureListener({
            ...place,
            ...at,
            identity,
            tls: { minVersion: '', cipherSuites: [], ...options.tls },
            clientAuthorities: options.withoutClientAuthorities === true ? undefined : authorities,
          }),
        );
    }
  }

  static async open(options: ServerWorldOptions): Promise<ServerWorld> {
    const authority = await TlsAuthority.create();
    const world = new ServerWorld(options, authority, await authority.server());
    for (const listener of world.listeners.values()) await listener.start();
    return world;
  }

  async close(): Promise<void> {
    for (const listener of this.listeners.values()) await listener.stop();
  }

  port(listener: ListenerName): number {
    return this.listeners.get(listener)?.port ?? 0;
  }

  /** One request on a connection of its own. */
  ask(
    listener: ListenerName,
    path: string,
    options: RequestOptions & { readonly body?: string; readonly client?: IssuedCertificate } = {},
  ): Promise<ServerAnswer> {
    const { body, client, ...rest } = options;
    const call = { host: '127.0.0.1', port: this.port(listener), path, agent: false as const, ...rest };
    return new Promise((resolve, reject) => {
      const identity = client === undefined ? {} : { cert: client.certificate, key: client.key };
      const request =
        listener === 'secure'
          ? requestSecure({ ...call, ca: this.authority.certificate, ...identity })
          : requestPlain(call);
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  /** A connection to write anything to. */
  connect(listener: ListenerName, options: ConnectionOptions = {}): Socket {
    const to = { host: '127.0.0.1', port: this.port(listener) };
    return listener === 'secure'
      ? connectTls({ ...to, ca: this.authority.certificate, ALPNProtocols: ['http/1.1'], ...options })
      : connectPlain(to);
  }

  http2(options: SecureClientSessionOptions = {}): ClientHttp2Session {
    return connectHttp2(`https://127.0.0.1:${this.port('secure')}`, { ca: this.authority.certificate, ...options });
  }
}

export function servingPair({ certificate, key }: IssuedCertificate): ServingPair {
  return { certificate, key: new Masked(key) };
}

/** Everything a connection says until it ends, however it ends. */
export function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

/** One request over HTTP/2. */
export function askHttp2(
  session: ClientHttp2Session,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<ServerAnswer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path, ...headers }, { endStream: body === undefined });
    const chunks: Buffer[] = [];
    let answer: IncomingHttpHeaders & { readonly ':status'?: number | undefined } = {};
    stream.on('response', (received) => (answer = received));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', reject);
    stream.on('end', () =>
      resolve({ status: answer[':status'] ?? 0, headers: answer, body: Buffer.concat(chunks).toString() }),
    );
    if (body !== undefined) stream.end(body);
  });
}

export const hello: Handler = async ({ query }) => text(200, `hello ${query.get('name') ?? 'you'}`);

export const streamOf = (send: StreamedAnswer['send']): StreamedAnswer => ({
  kind: 'stream',
  status: 200,
  contentType: 'text/plain',
  headers: { 'x-of': 'stream' },
  send,
});

/** Something that a test waits for, or lets others wait for. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
