import { once } from 'node:events';
import http2, { type Http2SecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ApiServerAccess } from '../../apiserver/kubeconfig/access.ts';
import type { TransportAnswer, TransportRequest } from '../../apiserver/ports.ts';
import { flatHeaders } from '../../apiserver/transport/network-error.ts';
import { TubeletError } from '../../base/errors.ts';
import { Masked } from '../../base/masked.ts';
import { TlsAuthority } from '../tls-authority.ts';
import type { FakeApiServer } from './fake-api-server.ts';
import type { FakeUser } from './new-objects.ts';

export interface ServedApiServer {
  readonly url: string;
  /** Signs client certificates: the common name is the user, the organizations are the groups. */
  readonly authority: TlsAuthority;
  /** What a kubeconfig with a new client certificate would say. */
  access(user: FakeUser): Promise<ApiServerAccess>;
  /** Drops all connections and frees the port, as when the server dies. */
  stop(): Promise<void>;
  /** Listens again on the same port. */
  start(): Promise<void>;
}

interface ServeOptions {
  readonly authority?: TlsAuthority;
}

const anonymous: FakeUser = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Serves a fake by HTTP/2 over TLS on loopback, with the same state and levers as in process. */
export async function serveFakeApiServer(fake: FakeApiServer, options: ServeOptions = {}): Promise<ServedApiServer> {
  const authority = options.authority ?? (await TlsAuthority.create());
  const { certificate, key } = await authority.server();
  const sessions = new Set<ServerHttp2Session>();
  let server: Http2SecureServer | undefined;
  let port = 0;
  const served = {
    authority,
    get url(): string {
      return `https://127.0.0.1:${port}`;
    },
    async access({ name, groups }: FakeUser): Promise<ApiServerAccess> {
      const { certificate: data, key: secret } = await authority.client(name, groups);
      return {
        server: new URL(served.url),
        certificateAuthority: { data: authority.certificate },
        insecureSkipTlsVerify: false,
        disableCompression: true,
        user: { clientCertificate: { data }, clientKey: { data: new Masked(secret) } },
        namespace: 'default',
      };
    },
    async start() {
      await served.stop();
      const asked = { requestCert: true, rejectUnauthorized: false };
      server = http2.createSecureServer({ cert: certificate, key, ca: authority.certificate, ...asked });
      server.on('session', (session) => {
        sessions.add(session);
        // A connection that breaks is told to who reads from it.
        session.on('error', () => {}).once('close', () => sessions.delete(session));
      });
      server.on('stream', (stream, headers) => void answer(fake, stream, flatHeaders(headers), headers));
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      ({ port } = server.address() as AddressInfo);
    },
    async stop() {
      const old = server;
      server = undefined;
      for (const session of sessions) session.destroy();
      if (old !== undefined) await new Promise((resolve) => void old.close(resolve));
    },
  };
  await served.start();
  return served;
}

async function answer(
  fake: FakeApiServer,
  stream: ServerHttp2Stream,
  headers: Readonly<Record<string, string>>,
  pseudo: http2.IncomingHttpHeaders,
): Promise<void> {
  const controller = new AbortController();
  stream.on('error', () => {});
  stream.once('close', () => controller.abort(new TubeletError('cancelled', 'the client went away')));
  try {
    const body = await bodyOf(stream);
    const method = (pseudo[':method'] ?? 'GET') as TransportRequest['method'];
    const request = { method, path: pseudo[':path'] ?? '/', headers, body, signal: controller.signal };
    await respond(stream, await fake.handle(request, peerOf(stream)));
  } catch {
    // The client sees a broken connection, which is what there is to say.
    if (fake.faults.isAway) stream.session?.destroy();
    else stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
  }
}

async function bodyOf(stream: ServerHttp2Stream): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

async function respond(stream: ServerHttp2Stream, { status, headers, body }: TransportAnswer): Promise<void> {
  if (stream.destroyed) return;
  stream.respond({ ':status': status, ...headers });
  for await (const piece of body) if (!stream.write(piece)) await once(stream, 'drain');
  stream.end();
}

function peerOf(stream: ServerHttp2Stream): FakeUser {
  const socket = stream.session?.socket as TLSSocket | undefined;
  if (socket?.authorized !== true) return anonymous;
  const { CN: name, O: groups = [] } = socket.getPeerCertificate().subject as { CN: string; O?: string | string[] };
  return { name, groups: [groups, 'system:authenticated'].flat() };
}
