import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { describeError, isKind } from '../../base/errors.ts';
import { Masked } from '../../base/masked.ts';
import { nodeHttp } from '../../host/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { fetchManifest, fetchTimeoutMs, maxBodyBytes, redirectTarget, shownUrl } from './fetch-manifest.ts';

/** A real server and the real client. Virtual time stands still, so no deadline can come by chance. */
const token = 'Bearer hunter2';
let server: Server | undefined;
const asked: IncomingMessage[] = [];

afterEach(async () => {
  asked.length = 0;
  const running = server;
  server = undefined;
  if (running === undefined) return;
  running.closeAllConnections();
  await new Promise((resolve) => void running.close(resolve));
});

async function serve(listener: RequestListener): Promise<string> {
  const made = createServer((request, response) => {
    asked.push(request);
    listener(request, response);
  });
  server = made;
  await new Promise<void>((resolve) => void made.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

interface Changes {
  readonly clock?: FakeClock;
  readonly signal?: AbortSignal;
}
async function fetchText(url: string, { clock = new FakeClock(), signal }: Changes = {}): Promise<string> {
  const headers = new Masked({ Authorization: [token], 'X-Zone': ['a', 'b'], Host: ['elsewhere'] });
  const bytes = await fetchManifest({
    client: nodeHttp,
    clock,
    url,
    headers,
    signal: signal ?? new AbortController().signal,
  });
  return Buffer.from(bytes).toString('utf8');
}

/** The text of the failure, with all causes; never with a header. */
async function failure(url: string, changes: Changes = {}): Promise<string> {
  try {
    await fetchText(url, changes);
  } catch (error) {
    const text = describeError(error);
    assert.ok(!text.includes('hunter2'), text);
    return text;
  }
  return assert.fail('there was an answer');
}

/** Something that will happen. */
function moment(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

test('one GET with the headers that were configured, except those of the connection', async () => {
  const url = await serve((_request, response) => response.end('body'));
  assert.equal(await fetchText(`${url}/pods?zone=1`), 'body');
  const [request] = asked;
  assert.equal(request?.method, 'GET');
  assert.equal(request.url, '/pods?zone=1');
  assert.equal(request.headers.authorization, token);
  assert.equal(request.headers['x-zone'], 'a, b');
  assert.equal(request.headers.host, new URL(url).host);
  assert.equal(request.headers['user-agent'], 'tubelet');
});

test('a body in pieces is put together', async () => {
  const url = await serve((_request, response) => {
    response.write('one ');
    setImmediate(() => response.end('two'));
  });
  assert.equal(await fetchText(url), 'one two');
});

test('anything but 200 is a failure with the status text of HTTP, not of the server', async () => {
  const url = await serve((request, response) => {
    response.writeHead(404, `sent ${request.headers.authorization}`).end(`you sent ${request.headers.authorization}`);
  });
  assert.equal(await failure(url), 'the server answers 404 Not Found');
  server?.removeAllListeners('request').on('request', (_request, response) => response.writeHead(204).end());
  assert.equal(await failure(url), 'the server answers 204 No Content');
});

test('redirects on the same host are followed, headers go along', async () => {
  const url = await serve((request, response) => {
    const step = Number(request.url?.slice(1));
    if (step === 10) response.end('there');
    else response.writeHead([301, 302, 303, 307, 308][step % 5] ?? 0, { Location: `/${step + 1}` }).end();
  });
  assert.equal(await fetchText(`${url}/0`), 'there');
  assert.equal(asked.length, 11);
  assert.ok(asked.every((request) => request.headers.authorization === token));
});

test('redirects without end are given up', async () => {
  const url = await serve((_request, response) => response.writeHead(302, { Location: '/' }).end());
  assert.equal(await failure(url), 'more than 10 redirects');
  assert.equal(asked.length, 11);
});

test('a redirect to another host is refused and that host never asked', async () => {
  const url = await serve((request, response) => {
    const { authorization } = request.headers;
    response.writeHead(302, { Location: `http://localhost:1/?leak=${authorization}` }).end();
  });
  assert.match(
    await failure(url),
    /^redirected from http:\/\/127\.0\.0\.1:\d+ to http:\/\/localhost:1, which is not f/,
  );
});

test('where redirects may lead', () => {
  const from = new URL('http://user:pass@host:8080/a/b?c');
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['/x', 'http://user:pass@host:8080/x'],
    ['x?y', 'http://user:pass@host:8080/a/x?y'],
    ['http://HOST:8080/x', 'http://host:8080/x'],
    ['https://host/x', 'https://host/x'],
    ['//host:8080/x', 'http://host:8080/x'],
    ['http://host/x', undefined],
    ['http://host:8081/x', undefined],
    ['http://sub.host:8080/x', undefined],
    ['//other/x', undefined],
    ['file:///etc/shadow', undefined],
    ['http://[', undefined],
  ];
  for (const [location, expected] of cases) {
    if (expected === undefined) assert.throws(() => redirectTarget(from, location), { kind: 'denied' }, location);
    else assert.equal(redirectTarget(from, location).href, expected);
  }
  assert.throws(() => redirectTarget(new URL('https://host/'), 'http://host/'), { kind: 'denied' });
});

test('a body over the limit is not read to its end', async () => {
  const megabyte = Buffer.alloc(1024 * 1024, ' ');
  let sent = 0;
  const url = await serve((_request, response) => {
    const more = (): void => {
      while (!response.destroyed) {
        sent += megabyte.length;
        if (!response.write(megabyte)) return void response.once('drain', more);
      }
    };
    more();
  });
  assert.equal(await failure(url), `the body has more than ${maxBodyBytes} bytes`);
  assert.ok(sent < 10 * maxBodyBytes);
});

test('a body that breaks off is a failure', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('half', () => response.destroy());
  });
  assert.match(await failure(url), /^no answer: aborted/);
});

test('no server there', async () => {
  const url = await serve(() => {});
  const running = server;
  await new Promise((resolve) => void running?.close(resolve));
  assert.match(await failure(url), /^no answer: connect ECONNREFUSED/);
  for (const wrong of ['', 'file:///etc/passwd', 'nonsense']) {
    assert.equal(await failure(wrong), 'the URL is not one of http or https');
  }
});

test('ten seconds are all it gets, also when the body has begun', async () => {
  const begun = moment();
  const ended = moment();
  const url = await serve((request, response) => {
    request.socket.once('close', () => ended.resolve());
    response.write('a', () => begun.resolve());
  });
  const clock = new FakeClock();
  const outcome = failure(url, { clock });
  await begun.promise;
  await clock.advance(fetchTimeoutMs);
  assert.equal(await outcome, 'timed out after 10000 ms');
  await ended.promise;
  assert.equal(clock.pending(), 0);
});

test('the signal ends it', async () => {
  const begun = moment();
  const url = await serve(() => begun.resolve());
  const stop = new AbortController();
  const outcome = fetchText(url, { signal: stop.signal }).catch((error: unknown) => error);
  await begun.promise;
  stop.abort();
  assert.ok(isKind(await outcome, 'cancelled'));
});

test('a URL is shown without what may be secret in it', () => {
  assert.equal(shownUrl('https://user:hunter2@host:1/path?token=hunter2#x'), 'https://host:1/path');
  assert.equal(shownUrl('hunter2'), '<not a URL>');
});
