import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
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

  test('says nothing when it went well', async () => {
    assert.equal(await run(answering(0), { exec: { command: ['true'] } }), undefined);
  });
  test('says the command, the code and the output', async () => {
    const said = await run(answering(3, 'no\n'), { exec: { command: ['sh', '-c', 'x'] } });
    assert.equal(
      said,
      'Exec lifecycle hook ([sh -c x]) for Container "web" in Pod "p_n(u)" failed - error: ' +
        `command 'sh -c x' exited with 3: no\n, message: "no\\n"`,
    );
  });
  test('the runtime cannot', async () => {
    const execSync = async (): Promise<never> => {
      throw new TubeletError('notFound', 'execSync: no such container', { words: 'no such container' });
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

  test('https answered in plain HTTP is sent again that way, and told', async () => {
    const { port } = server.address() as AddressInfo;
    const httpHeaders = [{ name: 'Authorization', value: 'Bearer x' }];
    const deps = depsWith({ requests: nodeHookRequests });
    assert.equal(await run(deps, { httpGet: { port, path: '/s', scheme: 'HTTPS', httpHeaders } }), undefined);
    assert.deepEqual(plainHosts, [`127.0.0.1:${port}`]);
    assert.equal(authorizations.at(-1), undefined, 'no secret goes over a plain connection');
    assert.equal(seen.at(-1), 'GET /s kube-lifecycle/1.34');
  });

  test('nobody there', async () => {
    const said = await run(depsWith({ requests: nodeHookRequests }), { httpGet: { port: 1, path: '/' } });
    assert.equal(
      said,
      'HTTP lifecycle hook (/) for Container "web" in Pod "p_n(u)" failed - error: ' +
        'Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused',
    );
  });
});
