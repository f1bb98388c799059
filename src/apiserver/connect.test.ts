import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import http2 from 'node:http2';
import { connect as connectSocket, type AddressInfo, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { Masked } from '../base/masked.ts';
import { systemClock } from '../base/system-clock.ts';
import { apiResources } from '../model/api-resources.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { TlsAuthority } from '../testing/tls-authority.ts';
import { HttpApiClient } from './api-client.ts';
import { connectApiServer } from './connect.ts';
import type { ApiServerAccess } from './kubeconfig/access.ts';

const accessTo = (server: string, more: Partial<ApiServerAccess> = {}): ApiServerAccess => ({
  server: new URL(server),
  insecureSkipTlsVerify: false,
  disableCompression: false,
  user: { token: new Masked('t') },
  namespace: 'default',
  ...more,
});

async function clientOf(context: TestContext, access: ApiServerAccess, environment: Record<string, string> = {}) {
  const clock = systemClock();
  const log = new MemoryLog();
  const { transport, credentials } = await connectApiServer(access, { clock, log, environment });
  context.after(() => transport.close());
  return { client: new HttpApiClient({ transport, credentials, clock, log, userAgent: 'kubelet/x' }), log, transport };
}

async function listen(context: TestContext, server: Server | http2.Http2SecureServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('a server at an http:// address', () => {
  test('is spoken to by HTTP/1.1, with a warning about the token', async (context) => {
    const server = createServer((request, answer) => {
      if (request.url?.includes('/half') === true) {
        answer.writeHead(200);
        answer.write('{');
        answer.destroy();
        return;
      }
      const { url, headers } = request;
      answer.end(JSON.stringify({ url, token: headers.authorization, agent: headers['user-agent'] }));
    });
    const port = await listen(context, server);
    const { client, log, transport } = await clientOf(context, accessTo(`http://127.0.0.1:${port}/k8s/`));
    assert.deepEqual(await client.get(apiResources.nodes, { name: 'n' }), {
      url: '/k8s/api/v1/nodes/n',
      token: 'Bearer t',
      agent: 'kubelet/x',
    });
    await assert.rejects(client.get(apiResources.nodes, { name: 'half' }), { kind: 'unavailable' });
    assert.equal(log.messages('warn').length, 1);
    transport.reset();
    await client.get(apiResources.nodes, { name: 'n' });
  });
});

describe('a server at an https:// address', () => {
  async function secure(context: TestContext) {
    const authority = await TlsAuthority.create();
    const { certificate, key } = await authority.server();
    const server = http2.createSecureServer({ cert: certificate, key });
    server.on('stream', (stream, headers) => {
      stream.respond({ ':status': 200 });
      stream.end(JSON.stringify({ path: headers[':path'] }));
    });
    return { port: await listen(context, server), authority };
  }

  test('is verified, unless the kubeconfig disables it, with one warning', async (context) => {
    const { port, authority } = await secure(context);
    const url = `https://127.0.0.1:${port}`;
    const good = await clientOf(context, accessTo(url, { certificateAuthority: { data: authority.certificate } }));
    assert.deepEqual(await good.client.get(apiResources.nodes, { name: 'n' }), { path: '/api/v1/nodes/n' });
    assert.deepEqual(good.log.messages('warn'), []);
    const bad = await clientOf(context, accessTo(url));
    await assert.rejects(bad.client.get(apiResources.nodes, { name: 'n' }), { kind: 'unavailable' });
    const careless = await clientOf(context, accessTo(url, { insecureSkipTlsVerify: true }));
    await careless.client.get(apiResources.nodes, { name: 'n' });
    await careless.client.get(apiResources.nodes, { name: 'n' });
    assert.equal(careless.log.messages('warn').length, 1);
  });

  test('is reached through a proxy', async (context) => {
    const { port, authority } = await secure(context);
    const asked: string[] = [];
    const proxy = createServer();
    proxy.on('connect', ({ url, headers }, socket: Socket) => {
      asked.push(`${url} ${headers['proxy-authorization']}`);
      if (asked.length > 1) {
        socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
        return;
      }
      const far = connectSocket(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        far.pipe(socket).pipe(far);
      });
      far.on('error', () => {});
      socket.on('error', () => {});
    });
    const proxyUrl = `http://u:p@127.0.0.1:${await listen(context, proxy)}`;
    const access = accessTo(`https://127.0.0.1:${port}`, {
      proxyUrl,
      certificateAuthority: { data: authority.certificate },
    });
    const { client } = await clientOf(context, access);
    await client.get(apiResources.nodes, { name: 'n' });
    assert.deepEqual(asked, [`127.0.0.1:${port} Basic ${Buffer.from('u:p').toString('base64')}`]);
    const refused = await clientOf(context, access);
    await assert.rejects(refused.client.create(apiResources.nodes, undefined, {}), (error: Error) => {
      assert.match((error.cause as Error).message, /proxy 127\.0\.0\.1:\d+ refuses to connect/);
      return true;
    });
  });
});
