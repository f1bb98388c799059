import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, describe, test, type TestContext } from 'node:test';
import { containerId } from '../../base/ids.ts';
import { TubeletError } from '../../base/errors.ts';
import type { LifecycleHandler } from '../../gen/kubernetes/types.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aContainer } from '../../testing/pods.ts';
import { nodeHookRequests } from './hook-requests.ts';
import { runHook, type HookDeps } from './run-hook.ts';

const container = aContainer('web');
const bytes = (text: string): Buffer<ArrayBuffer> => Buffer.from(text);

function depsWith(more: Partial<HookDeps>): HookDeps {
  const unused = async (): Promise<never> => {
    throw new Error('not expected');
  };
  return { clock: new FakeClock(), runtime: { execSync: unused }, requests: { send: unused }, ...more };
}

const plainHosts: string[] = [];
const onPlainHttp = (host: string): void => void plainHosts.push(host);

const run = (
  deps: HookDeps,
  handler: LifecycleHandler,
  signal = new AbortController().signal,
): Promise<string | undefined> =>
  runHook(
    deps,
    { handler, container, id: containerId('id'), podIp: '127.0.0.1', podName: 'p_n(u)', onPlainHttp },
    signal,
  );

describe('exec', () => {
  const answering = (exitCode: number, stderr = '') =>
    depsWith({ runtime: { execSync: async () => ({ exitCode, stdout: bytes(''), stderr: bytes(stderr) }) } });

  test('has no message when it succeeded', async () => {
    assert.equal(await run(answering(0), { exec: { command: ['true'] } }), undefined);
  });
  test('reports the command, the code and the output', async () => {
    const said = await run(answering(3, 'no\n'), { exec: { command: ['sh', '-c', 'x'] } });
    assert.equal(
      said,
      'Exec lifecycle hook ([sh -c x]) for Container "web" in Pod "p_n(u)" failed - error: ' +
        `command 'sh -c x' exited with 3: no\n, message: "no\\n"`,
    );
  });
  test('the runtime cannot', async () => {
    const execSync = async (): Promise<never> => {
      throw new TubeletError('notFound', 'execSync: no such container', { remoteMessage: 'no such container' });
    };
    assert.match(
      (await run(depsWith({ runtime: { execSync } }), { exec: { command: ['x'] } })) ?? '',
      /error: no such container, message: ""$/,
    );
  });
});

test('sleep takes its time and can be given up', async () => {
  const clock = new FakeClock();
  const deps = depsWith({ clock });
  let done = false;
  const hook = run(deps, { sleep: { seconds: 3 } }).then((said) => (done = said === undefined));
  await clock.advance(2_900);
  assert.equal(done, false);
  await clock.advance(100);
  await hook;
  const abort = new AbortController();
  const given = run(deps, { sleep: { seconds: 3 } }, abort.signal);
  abort.abort();
  await assert.rejects(given, { name: 'AbortError' });
});

test('a tcpSocket hook is refused', async () => {
  assert.equal(await run(depsWith({}), { tcpSocket: { port: 80 } }), 'Cannot run handler: invalid handler: tcpSocket');
});

describe('httpGet', () => {
  const seen: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    seen.push(`${request.method} ${request.url} ${request.headers['user-agent']}`);
    response.writeHead(500).end('whatever');
  });
  before(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
  after(() => new Promise((resolve) => void server.close(resolve)));

  test('any answer will do', async () => {
    const { port } = server.address() as AddressInfo;
    const said = await run(depsWith({ requests: nodeHookRequests }), { httpGet: { port, path: '/bye' } });
    assert.equal(said, undefined);
    assert.equal(seen.at(-1), 'GET /bye kube-lifecycle/1.34');
  });

  test('https answered in plain HTTP is sent again that way, and recorded', async () => {
    const { port } = server.address() as AddressInfo;
    const httpHeaders = [{ name: 'Authorization', value: 'Bearer x' }];
    const deps = depsWith({ requests: nodeHookRequests });
    assert.equal(await run(deps, { httpGet: { port, path: '/s', scheme: 'HTTPS', httpHeaders } }), undefined);
    assert.deepEqual(plainHosts, [`127.0.0.1:${port}`]);
    assert.equal(authorizations.at(-1), undefined, 'no secret goes over a plain connection');
    assert.equal(seen.at(-1), 'GET /s kube-lifecycle/1.34');
  });

  test('no server there', async () => {
    const said = await run(depsWith({ requests: nodeHookRequests }), { httpGet: { port: 1, path: '/' } });
    assert.equal(
      said,
      'HTTP lifecycle hook (/) for Container "web" in Pod "p_n(u)" failed - error: ' +
        'Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused',
    );
  });
});

test('what a failing command prints is cut before a text is made of it', async () => {
  const output = Buffer.alloc(15 * 1024 * 1024, 1);
  const execSync = async () => ({ exitCode: 1, stdout: output, stderr: output });
  const before = performance.now();
  const said = await run(depsWith({ runtime: { execSync } }), { exec: { command: ['sh', '-c', 'x'.repeat(500_000)] } });
  assert.ok((said?.length ?? 0) < 64 * 1_024, `${said?.length}`);
  assert.match(said ?? '', /, message: "(\\x01){10240}"$/);
  // Quoting 15 MB takes 8 s.
  assert.ok(performance.now() - before < 2_000);
});

class Deferred {
  resolve = (): void => {};
  readonly done = new Promise<void>((resolve) => (this.resolve = resolve));
}

describe('an httpGet hook', () => {
  async function serveRaw(context: TestContext, onRequest: (socket: Socket) => void): Promise<number> {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => onRequest(socket));
      context.after(() => socket.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    context.after(() => server.close());
    return (server.address() as AddressInfo).port;
  }
  const send = (port: number) => run(depsWith({ requests: nodeHookRequests }), { httpGet: { port, path: '/' } });

  test('is over with the headers, and closes a body without an end', async (context) => {
    const closed = new Deferred();
    const port = await serveRaw(context, (socket) => {
      socket.once('close', () => closed.resolve());
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = (): void => {
        if (!socket.destroyed) socket.write('x'.repeat(1_000), () => setImmediate(more));
      };
      more();
    });
    assert.equal(await send(port), undefined);
    await closed.done;
  });

  test('closes a body that drips, or stands still', async (context) => {
    for (const piece of ['x', '']) {
      const closed = new Deferred();
      const port = await serveRaw(context, (socket) => {
        socket.once('close', () => closed.resolve());
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const drip = setInterval(() => socket.write(piece), 20);
        socket.once('close', () => clearInterval(drip));
      });
      assert.equal(await send(port), undefined);
      await closed.done;
    }
  });

  test('fails when its answer is announced without end', async (context) => {
    const port = await serveRaw(context, (socket) => {
      const announce = (): void => {
        if (!socket.destroyed) socket.write('HTTP/1.1 102 Processing\r\n\r\n', () => setImmediate(announce));
      };
      announce();
    });
    assert.match((await send(port)) ?? '', /too many 1xx informational responses$/);
  });
});
