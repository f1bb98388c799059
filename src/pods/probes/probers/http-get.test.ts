import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { containerId } from '../../../base/ids.ts';
import type { Clock } from '../../../base/clock.ts';
import { systemClock } from '../../../base/system-clock.ts';
import type { HTTPGetAction } from '../../../gen/kubernetes/types.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { aContainer, aPod } from '../../../testing/pods.ts';
import type { ProbeOutcome } from '../ports.ts';
import { httpProber } from './http-get.ts';

/** Self-signed, for another name: a probe does not check it. */
const tls = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgrJ9mfWs1WQ+HZBQJ
oCHKswzKtutYpXmpGhyHKdmdUryhRANCAAR37pefR/HugouYJBmeznY7PAUhmP3G
klf8i4IVgF2HKdtC4uTAvIzTQa3rN7R9hv32frkmt8gLH+pdIEP+6Rjq
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBhjCCAS2gAwIBAgIUKshFCtc/baaAVgP/d5q+TqoVIPIwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNd3JvbmcuZXhhbXBsZTAgFw0yNjExMTUxMDEzMTlaGA8yMTI2
MTAyMjEwMTMxOVowGDEWMBQGA1UEAwwNd3JvbmcuZXhhbXBsZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABHful59H8e6Ci5gkGZ7Odjs8BSGY/caSV/yLghWAXYcp
20Li5MC8jNNBres3tH2G/fZ+uSa3yAsf6l0gQ/7pGOqjUzBRMB0GA1UdDgQWBBSj
nDnQhVmTN0m15j35y7yCAlCtCDAfBgNVHSMEGDAWgBSjnDnQhVmTN0m15j35y7yC
AlCtCDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIFRe9ZBA/aSn
UaIo2/DWn8qTWyUZf1Wjwz5BBxyW/+suAiAZG+7JX9BpLQA1S+IwRAiWB/mg+b4u
iWWXBD7c61o30A==
-----END CERTIFICATE-----`,
};

async function portOf(server: { address(): AddressInfo | string | null }): Promise<number> {
  return (server.address() as AddressInfo).port;
}

async function serve(listener: RequestListener, server: Server = createServer(listener)): Promise<number> {
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return portOf(server);
}

function probe(port: number, action: Partial<HTTPGetAction> = {}, clock: Clock = systemClock(), signal?: AbortSignal) {
  return httpProber(clock)(
    {
      pod: aPod(),
      container: aContainer('main'),
      containerId: containerId('c0'),
      probe: { httpGet: { port, path: '/', ...action } },
      podIp: '127.0.0.1',
      timeoutMs: 5_000,
    },
    signal ?? new AbortController().signal,
  );
}

const answer =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };

/** Time is over before the network gets a turn. */
const impatient: Clock = {
  ...systemClock(),
  after(_ms, callback) {
    queueMicrotask(callback);
    return () => {};
  },
};

/** Turns of the event loop: bytes that were flushed here have arrived there. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => void setImmediate(resolve));
}

for (const [status, outcome] of [
  [200, { kind: 'success', output: 'body' }],
  [204, { kind: 'success', output: '' }],
  [399, { kind: 'warning', output: 'Probe terminated redirects, Response body: body' }],
  [400, { kind: 'failure', output: 'HTTP probe failed with statuscode: 400' }],
  [503, { kind: 'failure', output: 'HTTP probe failed with statuscode: 503' }],
] satisfies readonly (readonly [number, ProbeOutcome])[]) {
  test(`status ${status}`, async () => {
    assert.deepEqual(await probe(await serve(answer(status, 'body'))), outcome);
  });
}

test('what arrives at the server', async () => {
  const seen: IncomingMessage[] = [];
  const port = await serve((request, response) => {
    seen.push(request);
    response.end();
  });
  await probe(port, { path: '/a b?c' });
  await probe(port, {
    httpHeaders: [
      { name: 'Host', value: 'a.example' },
      { name: 'x-own', value: '1' },
      { name: 'x-own', value: '2' },
      { name: 'Accept', value: '' },
    ],
  });
  assert.equal(seen[0]?.method, 'GET');
  assert.equal(seen[0]?.url, '/a%20b?c');
  assert.deepEqual(seen[0]?.rawHeaders, [
    'Host',
    `127.0.0.1:${port}`,
    'User-Agent',
    'kube-probe/1.34',
    'Accept',
    '*/*',
    'Connection',
    'close',
  ]);
  assert.equal(seen[1]?.headers.host, 'a.example');
  assert.deepEqual(seen[1]?.headersDistinct['x-own'], ['1', '2']);
  assert.equal(seen[1]?.headers.accept, undefined);
});

test('a connection per probe, closed afterwards', async () => {
  const sockets: Socket[] = [];
  const server = createServer(answer(200));
  server.on('connection', (socket: Socket) => sockets.push(socket));
  const port = await serve(() => {}, server);
  await probe(port);
  await probe(port);
  assert.equal(sockets.length, 2);
  for (const socket of sockets) if (!socket.destroyed) await once(socket, 'close');
});

test('certificates are not verified', async () => {
  const port = await serve(() => {}, createTlsServer(tls, answer(200, 'safe')));
  assert.deepEqual(await probe(port, { scheme: 'HTTPS' }), { kind: 'success', output: 'safe' });
});

test('a server without TLS', async () => {
  const port = await serve(answer(200));
  assert.deepEqual(await probe(port, { scheme: 'HTTPS' }), {
    kind: 'failure',
    output: `Get "https://127.0.0.1:${port}/": http: server gave HTTP response to HTTPS client`,
  });
});

test('a refused connection, with the message of upstream', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = await portOf(server);
  server.close();
  await once(server, 'close');
  assert.deepEqual(await probe(port, { path: '/ready' }), {
    kind: 'failure',
    output: `Get "http://127.0.0.1:${port}/ready": dial tcp 127.0.0.1:${port}: connect: connection refused`,
  });
});

test('a server that hangs up without an answer, and one of another protocol', async () => {
  const rude = await tcp((socket) => socket.once('data', () => socket.end()));
  assert.deepEqual(await probe(rude), {
    kind: 'failure',
    output: `Get "http://127.0.0.1:${rude}/": EOF`,
    unanswered: true,
  });
  const reset = await tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const outcome = await probe(reset);
  assert.ok(outcome.kind === 'failure');
  assert.match(outcome.output, /: read tcp 127\.0\.0\.1:\d+->127\.0\.0\.1:\d+: read: connection reset by peer$/);
  const foreign = await tcp((socket) => socket.end('220 mail.example ESMTP\r\n'));
  const strange = await probe(foreign);
  assert.ok(strange.kind === 'failure');
  assert.match(strange.output, /transport connection broken: malformed HTTP response/);
});

async function tcp(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return portOf(server);
}

test('header lines that end in a bare line feed, as small servers write them', async () => {
  const small = await tcp((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\nContent-Length: 2\n\nok')),
  );
  assert.equal((await probe(small)).kind, 'success');
});

test('redirects within the host are followed, to another port too', async () => {
  const goal = await serve((request, response) => void response.end(`${request.headers.host} ${request.url}`));
  const port = await serve(answer(302, '', { Location: `http://127.0.0.1:${goal}/there?x` }));
  assert.deepEqual(await probe(port), { kind: 'success', output: `127.0.0.1:${goal} /there?x` });
});

test("a host of the probe's own goes along with relative redirects only", async () => {
  const goal = await serve((request, response) => void response.end(request.headers.host));
  const port = await serve((request, response) => {
    if (request.url === '/') response.writeHead(301, { Location: '/on' }).end();
    else if (request.headers.host === 'own.example') {
      response.writeHead(301, { Location: `http://127.0.0.1:${goal}/` }).end();
    } else response.writeHead(500).end();
  });
  const httpHeaders = [{ name: 'Host', value: 'own.example' }];
  assert.deepEqual(await probe(port, { httpHeaders }), { kind: 'success', output: `127.0.0.1:${goal}` });
});

test('a redirect to another host is not followed, and is a warning', async () => {
  const port = await serve(answer(302, 'go away', { Location: 'http://127.0.0.2/' }));
  assert.deepEqual(await probe(port), {
    kind: 'warning',
    output: 'Probe terminated redirects, Response body: go away',
  });
});

test('redirects have an end', async () => {
  let requests = 0;
  const port = await serve((_request, response) => {
    response.writeHead(302, { Location: `/${++requests}` }).end();
  });
  assert.deepEqual(await probe(port), {
    kind: 'failure',
    output: `Get "http://127.0.0.1:${port}/9": stopped after 10 redirects`,
  });
  assert.equal(requests, 10);
});

test('of a long body ten KiB are read, and the rest is not waited for', async () => {
  let closed: Promise<unknown> = Promise.resolve();
  const port = await serve((_request, response) => {
    closed = once(response, 'close');
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(4_096)));
    };
    response.on('drain', more);
    more();
  });
  const outcome = await probe(port);
  assert.deepEqual(outcome, { kind: 'success', output: 'x'.repeat(10_240) });
  await closed;
});

test('a body that breaks off is an error, worth another try', async () => {
  const port = await serve((_request, response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('half', () => response.destroy());
  });
  assert.deepEqual(await probe(port), { kind: 'error', state: 'failure', error: 'unexpected EOF' });
});

/** Probes a server that does what it does and then nothing, until the time is over. */
async function timeout(reply: (response: ServerResponse) => Promise<void>): Promise<readonly [ProbeOutcome, number]> {
  const clock = new FakeClock();
  let asked = (): void => {};
  const arrival = new Promise<void>((resolve) => (asked = resolve));
  const port = await serve((_request, response) => void reply(response).then(asked));
  const outcome = probe(port, {}, clock);
  await arrival;
  await turns();
  await clock.advance(5_000);
  return [await outcome, port];
}

test('no connection in time', async () => {
  const port = await serve(answer(200));
  const reason = `dial tcp 127.0.0.1:${port}: i/o timeout (Client.Timeout exceeded while awaiting headers)`;
  assert.deepEqual(await probe(port, {}, impatient), {
    kind: 'failure',
    output: `Get "http://127.0.0.1:${port}/": ${reason}`,
    unanswered: true,
  });
});

test('no headers in time', async () => {
  const [outcome, port] = await timeout(async () => {});
  const reason = 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)';
  assert.deepEqual(outcome, {
    kind: 'failure',
    output: `Get "http://127.0.0.1:${port}/": ${reason}`,
    unanswered: true,
  });
});

test('headers but no body in time: the time covers the body', async () => {
  const [outcome] = await timeout((response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    return new Promise((resolve) => void response.write('half', () => resolve()));
  });
  assert.deepEqual(outcome, {
    kind: 'failure',
    output: 'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    unanswered: true,
  });
});

test('a header that cannot be sent is a failure', async () => {
  const outcome = await probe(await serve(answer(200)), { httpHeaders: [{ name: 'X-Own', value: 'a\nb' }] });
  assert.ok(outcome.kind === 'failure');
  assert.match(outcome.output, /net\/http: Invalid character in header/);
});

test('an abort rejects, and the connection is closed', async () => {
  const stop = new AbortController();
  let closed: Promise<unknown> = Promise.resolve();
  let asked = (): void => {};
  const arrival = new Promise<void>((resolve) => (asked = resolve));
  const port = await serve((request) => {
    closed = once(request.socket, 'close');
    asked();
  });
  const outcome = probe(port, {}, new FakeClock(), stop.signal);
  await arrival;
  stop.abort(new Error('enough'));
  await assert.rejects(outcome, /enough/);
  await closed;
});

test('a server that announces an answer without end gives none', async () => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      const announce = (): void => {
        if (!socket.destroyed) socket.write('HTTP/1.1 103 Early Hints\r\n\r\n', () => setImmediate(announce));
      };
      announce();
    });
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const outcome = await probe(await portOf(server));
  assert.ok(outcome.kind === 'failure' && outcome.unanswered !== true, JSON.stringify(outcome));
  assert.match(outcome.output, /too many 1xx informational responses$/);
});

test('a redirect to a very long URL does not make a very long message', async () => {
  const port = await serve((_, response) => {
    response.writeHead(302, { location: `http://[::1/${'"'.repeat(200_000)}` }).end();
  });
  const outcome = await probe(port);
  assert.ok(outcome.kind === 'failure');
  assert.ok(outcome.output.length <= 24_000, `${outcome.output.length}`);
});
