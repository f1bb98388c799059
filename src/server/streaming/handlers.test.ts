import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { createFakeCri, type FakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { observe } from '../../testing/observe.ts';
import { aContainer, aPod, runContainer, runSandbox, testImage } from '../../testing/pods.ts';
import type { RouteRequest, RouteResponse } from '../route.ts';
import { attachHandler } from '../routes/attach.ts';
import { checkpointHandler } from '../routes/checkpoint.ts';
import { execHandler } from '../routes/exec.ts';
import { portForwardHandler } from '../routes/port-forward.ts';
import { runHandler } from '../routes/run.ts';

const pod = aPod({
  spec: {
    initContainers: [aContainer('prepare')],
    containers: [aContainer('main'), aContainer('shell', { tty: true, stdin: true })],
  },
});

let clock: FakeClock;
let cri: FakeCri;
let log: MemoryLog;
let sandbox: string;
let containers: Readonly<Record<'main' | 'shell', string>>;
/** What the agent remembers of the pod. */
let known: ObservedPod;
let inspections: number;
let folders: string[];

const pods = {
  pod: (namespace: string, name: string) => (namespace === 'default' && name === 'web' ? pod : undefined),
  observed: async () => known,
  inspect: async () => {
    inspections++;
    return observe(cri, pod);
  },
};

beforeEach(async () => {
  clock = new FakeClock({ wall: Date.UTC(2025, 3, 1, 12, 30, 15, 250) });
  cri = createFakeCri({ clock });
  cri.images.add(testImage);
  log = new MemoryLog();
  sandbox = await runSandbox(cri, pod);
  containers = {
    main: await runContainer(cri, pod, sandbox, 'main'),
    shell: await runContainer(cri, pod, sandbox, 'shell'),
  };
  known = await observe(cri, pod);
  inspections = 0;
  folders = [];
});

type Verb = 'exec' | 'attach' | 'portForward' | 'run' | 'checkpoint';
interface Asked extends Partial<RouteRequest> {
  readonly text?: string;
}

function requestOf(params: Record<string, string>, { text = '', ...more }: Asked = {}): RouteRequest {
  return {
    listener: 'secure',
    method: 'POST',
    path: '',
    query: new URLSearchParams(text),
    params: { namespace: 'default', pod: 'web', ...params },
    headers: { upgrade: 'SPDY/3.1' },
    body: Buffer.alloc(0),
    caller: { name: 'alice', groups: [] },
    wantsUpgrade: true,
    signal: new AbortController().signal,
    ...more,
  };
}

async function ask(verb: Verb, params: Record<string, string>, asked: Asked = {}): Promise<RouteResponse> {
  const deps = { log, pods, runtime: cri };
  const handlers = {
    exec: execHandler(deps),
    attach: attachHandler(deps),
    portForward: portForwardHandler(deps),
    run: runHandler(deps),
    checkpoint: checkpointHandler({
      ...deps,
      clock,
      rootDir: '/var/lib/kubelet',
      folders: { makeFolder: async (path, mode) => void folders.push(`${path} ${mode.toString(8)}`) },
    }),
  };
  return handlers[verb](requestOf(params, asked));
}

/** Status and words of an answer that is a page, or where the connection goes. */
async function answered(answer: Promise<RouteResponse>): Promise<string> {
  const response = await answer;
  if (response.kind === 'handOver') return `to ${response.to.href}`;
  assert.equal(response.kind, 'page');
  const { contentType, body } = response as { contentType: string; body: string | Uint8Array };
  if (response.status !== 200) assert.equal(contentType, 'text/plain; charset=utf-8');
  return `${response.status} ${Buffer.from(body).toString()}`;
}

const lastCall = (): unknown => {
  const call = cri.calls.at(-1);
  return call && { verb: call.verb, request: call.request };
};

describe('exec', () => {
  const main = { container: 'main' };

  test('a command with its streams', async () => {
    const answer = await answered(
      ask('exec', main, { text: 'command=sh&command=-c&command=&input=1&output=1&error=1' }),
    );
    assert.equal(answer, 'to http://127.0.0.1:1/exec/token1');
    assert.deepEqual(lastCall(), {
      verb: 'exec',
      request: {
        containerId: containers.main,
        cmd: ['sh', '-c', ''],
        tty: false,
        stdin: true,
        stdout: true,
        stderr: true,
      },
    });
    assert.equal(inspections, 0, 'what is known is enough');
  });

  test('the server audits the session, once: nothing of the command gets into the log here', async () => {
    await ask('exec', main, { text: 'command=mysql&command=-psecret&output=1' });
    assert.deepEqual(log.entries, []);
  });

  const refusals: Readonly<Record<string, readonly [Record<string, string>, Asked, string]>> = {
    'no streams': [main, {}, '400 you must specify at least 1 of stdin, stdout, stderr'],
    'no such pod': [{ ...main, pod: 'other' }, { text: 'output=1' }, '404 pod does not exist'],
    'no such namespace': [{ ...main, namespace: 'other' }, { text: 'output=1' }, '404 pod does not exist'],
    'another pod of the name': [{ ...main, uid: 'uid-0' }, { text: 'output=1' }, '404 pod not found'],
    'no such container': [{ container: 'a"b' }, { text: 'output=1' }, '500 container not found ("a\\"b")'],
    'a container that does not run': [
      { container: 'prepare' },
      { text: 'output=1' },
      '500 container not found ("prepare")',
    ],
    'no upgrade': [main, { text: 'output=1', wantsUpgrade: false }, '400 Upgrade request required'],
  };
  for (const [name, [params, asked, expected]] of Object.entries(refusals)) {
    test(name, async () => {
      const before = cri.calls.filter(({ verb }) => verb === 'exec').length;
      assert.equal(await answered(ask('exec', params, asked)), expected);
      assert.equal(cri.calls.filter(({ verb }) => verb === 'exec').length, before, 'the runtime was not asked');
    });
  }

  test('the uid of the pod in the path is fine', async () => {
    assert.match(await answered(ask('exec', { ...main, uid: 'uid-1' }, { text: 'output=1' })), /^to /);
  });

  test('a container that was replaced since the last observation', async () => {
    cri.killContainer(containers.main);
    await clock.settle();
    const next = await runContainer(cri, pod, sandbox, 'main', 1);
    assert.match(await answered(ask('exec', main, { text: 'output=1' })), /^to /);
    assert.deepEqual((lastCall() as { request: { containerId: string } }).request.containerId, next);
    assert.equal(inspections, 1);
  });

  test('a container that started since the last observation', async () => {
    known = { ...known, containers: [] };
    assert.match(await answered(ask('exec', main, { text: 'output=1' })), /^to /);
  });

  test('a container that ended since the last observation', async () => {
    cri.killContainer(containers.main);
    await clock.settle();
    assert.equal(await answered(ask('exec', main, { text: 'output=1' })), '500 container not found ("main")');
  });

  test('what the runtime says, by its code', async () => {
    const cases = [
      ['notFound', '404 rpc error: code = NotFound desc = no such container'],
      ['unavailable', '500 rpc error: code = Unavailable desc = no such container'],
      ['invalid', '500 rpc error: code = InvalidArgument desc = no such container'],
    ] as const;
    const codes = { notFound: 'NotFound', unavailable: 'Unavailable', invalid: 'InvalidArgument' };
    for (const [kind, expected] of cases) {
      const error = new TubeletError(kind, 'exec: no such container', {
        remoteMessage: 'no such container',
        code: codes[kind],
      });
      const exec = async () => {
        throw error;
      };
      const handler = execHandler({ log, pods, runtime: { ...cri, exec } });
      const request = requestOf(main, { text: 'output=1' });
      assert.equal(await answered(handler(request)), expected);
    }
  });

  test('a runtime with too many sessions', async () => {
    const exec = async () => {
      throw new TubeletError('exhausted', 'exec: maximum number of in-flight requests exceeded', {
        remoteMessage: 'too many',
      });
    };
    const response = await execHandler({ log, pods, runtime: { ...cri, exec } })(requestOf(main, { text: 'output=1' }));
    assert.deepEqual(response, {
      kind: 'page',
      status: 429,
      contentType: 'text/plain; charset=utf-8',
      body: 'too many',
      headers: { 'Retry-After': '60' },
    });
    assert.equal(inspections, 0, 'the runtime is asked for nothing more');
  });

  test('a runtime that gives no address', async () => {
    for (const url of ['/exec/token', 'nonsense']) {
      const handler = execHandler({ log, pods, runtime: { ...cri, exec: async () => ({ url }) } });
      assert.equal(
        await answered(handler(requestOf(main, { text: 'output=1' }))),
        '500 the container runtime gave no address of the session',
      );
    }
  });
});

describe('attach', () => {
  test('the terminal is the container’s, whatever the client says', async () => {
    assert.match(
      await answered(ask('attach', { container: 'main' }, { text: 'tty=1&input=1&output=1' })),
      /attach\/token1$/,
    );
    assert.deepEqual(lastCall(), {
      verb: 'attach',
      request: { containerId: containers.main, tty: false, stdin: true, stdout: true, stderr: false },
    });
    await ask('attach', { container: 'shell' }, { text: 'input=1&output=1&error=1' });
    assert.deepEqual(lastCall(), {
      verb: 'attach',
      request: { containerId: containers.shell, tty: true, stdin: true, stdout: true, stderr: false },
    });
  });

  test('refusals', async () => {
    assert.match(await answered(ask('attach', { container: 'main' })), /^400 you must specify/);
    assert.equal(
      await answered(ask('attach', { container: 'x' }, { text: 'output=1' })),
      '500 container not found ("x")',
    );
    assert.equal(
      await answered(ask('attach', { container: 'main', pod: 'x' }, { text: 'output=1' })),
      '404 pod does not exist',
    );
  });
});

describe('portForward', () => {
  test('to the sandbox; SPDY names its ports later', async () => {
    assert.equal(await answered(ask('portForward', {})), 'to http://127.0.0.1:1/portforward/token1');
    assert.deepEqual(lastCall(), { verb: 'portForward', request: { podSandboxId: sandbox, port: [] } });
  });

  test('a WebSocket names them now', async () => {
    const headers = { upgrade: 'websocket' };
    assert.match(await answered(ask('portForward', {}, { headers, text: 'port=80,81' })), /^to /);
    assert.deepEqual(lastCall(), { verb: 'portForward', request: { podSandboxId: sandbox, port: [80, 81] } });
    assert.equal(await answered(ask('portForward', {}, { headers })), '400 query parameter "port" is required');
  });

  test('refusals', async () => {
    assert.equal(await answered(ask('portForward', { pod: 'x' })), '404 pod does not exist');
    assert.equal(await answered(ask('portForward', { uid: 'uid-0' })), '404 pod not found');
    await cri.stopPodSandbox({ podSandboxId: sandbox });
    assert.equal(await answered(ask('portForward', {})), '500 pod not found ("web_default")');
    assert.equal(await answered(ask('portForward', {}, { wantsUpgrade: false })), '400 Upgrade request required');
  });
});

describe('run', () => {
  const main = { container: 'main' };

  test('both outputs, one after the other', async () => {
    cri.execs.forContainer('main', { stdout: 'out\n', stderr: 'err\n' });
    const response = await ask('run', main, { text: 'cmd=ls%20-l' });
    assert.deepEqual(response, {
      kind: 'page',
      status: 200,
      contentType: 'application/json',
      body: Buffer.from('out\nerr\n'),
    });
    assert.deepEqual(lastCall(), {
      verb: 'execSync',
      request: { containerId: containers.main, cmd: ['ls', '-l'], timeout: 0n },
    });
  });

  test('a command that fails', async () => {
    cri.execs.forContainer('main', { exitCode: 2, stdout: 'out', stderr: 'no such file' });
    assert.equal(
      await answered(ask('run', main, { text: 'cmd=ls%20x' })),
      "500 command 'ls x' exited with 2: no such file",
    );
  });

  test('a container that was removed, an unknown pod, a runtime that refuses', async () => {
    assert.equal(await answered(ask('run', { container: 'x' }, { text: 'cmd=ls' })), '500 container not found ("x")');
    assert.equal(await answered(ask('run', { ...main, pod: 'x' }, { text: 'cmd=ls' })), '404 pod does not exist');
    assert.equal(await answered(ask('run', { ...main, uid: 'x' }, { text: 'cmd=ls' })), '404 pod not found');
    cri.execs.forContainer('main', { failure: { kind: 'notFound', message: 'no such program' } });
    assert.equal(await answered(ask('run', main, { text: 'cmd=ls' })), '500 no such program');
  });

  test('it is never run twice, also when the container dies of it', async () => {
    cri.execs.on(() => {
      cri.killContainer(containers.main);
      return { failure: { kind: 'internal', message: 'it died' } };
    });
    assert.equal(await answered(ask('run', main, { text: 'cmd=kill%201' })), '500 it died');
    assert.equal(cri.calls.filter(({ verb }) => verb === 'execSync').length, 1);
  });

  test('it ends with the client', async () => {
    cri.execs.forContainer('main', { hangs: true });
    const client = new AbortController();
    const answer = ask('run', main, { text: 'cmd=sleep%20inf', signal: client.signal });
    await clock.settle();
    client.abort();
    assert.match(await answered(answer), /^500 /);
  });
});

describe('checkpoint', () => {
  const main = { container: 'main' };
  const file = '/var/lib/kubelet/checkpoints/checkpoint-web_default-main-2025-04-01T12:30:15Z.tar';

  test('into a file that only root can read', async () => {
    const response = await ask('checkpoint', main, { text: 'timeout=1&timeout=20' });
    assert.deepEqual(response, {
      kind: 'page',
      status: 200,
      contentType: 'application/json',
      body: `{"items":["${file}"]}`,
    });
    assert.deepEqual(lastCall(), {
      verb: 'checkpointContainer',
      request: { containerId: containers.main, location: file, timeout: 20n },
    });
    assert.deepEqual(folders, ['/var/lib/kubelet/checkpoints 700']);
  });

  test('refusals', async () => {
    assert.equal(await answered(ask('checkpoint', { ...main, pod: 'x' })), '404 pod does not exist');
    assert.equal(await answered(ask('checkpoint', { container: '../x' })), '404 container ../x does not exist');
    assert.equal(
      await answered(ask('checkpoint', main, { text: 'timeout=soon' })),
      '404 cannot parse value of timeout parameter',
    );
    assert.equal(
      await answered(ask('checkpoint', { container: 'prepare' })),
      '500 checkpointing of default/web/prepare failed (container prepare not found)',
    );
    assert.deepEqual(folders, []);
  });

  test('a runtime that cannot', async () => {
    const checkpointContainer = async () => {
      throw new TubeletError('unsupported', 'checkpointContainer: unknown method', {
        remoteMessage: 'unknown method CheckpointContainer',
        code: 'Unimplemented',
      });
    };
    const handler = checkpointHandler({
      log,
      pods,
      runtime: { ...cri, checkpointContainer },
      clock,
      rootDir: '/r',
      folders: { makeFolder: async () => {} },
    });
    assert.equal(
      await answered(handler(requestOf(main))),
      '500 checkpointing of default/web/main failed ' +
        '(rpc error: code = Unimplemented desc = unknown method CheckpointContainer)',
    );
  });
});
