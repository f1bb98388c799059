import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { ContainerStatus, Pod } from '../../../src/gen/kubernetes/types.ts';
import { until } from '../../support/real-wait.ts';
import { AccessStories } from './kubectl-access.ts';
import { EchoConnection, refusalInSession } from './kubectl-forward.ts';
import { countedLines, flood, goFile, ports } from './kubectl-pods.ts';
import type { KubectlSession } from './kubectl-session.ts';
import { KubectlWorld } from './kubectl-world.ts';

let world: KubectlWorld;
let access: AccessStories;
before(async () => {
  world = await KubectlWorld.start();
  access = new AccessStories(world);
});
after(() => world?.stop());

const kubectl = (...words: readonly string[]): Promise<string> => world.plane.ask(...words);
/** What is said when it fails. */
const refused = async (...words: readonly string[]): Promise<string> => {
  const { code, stderr } = await world.run(words);
  assert.equal(code, 1, stderr);
  return stderr.trim();
};
const linesOf = (text: string): readonly string[] => text.split('\n').slice(0, -1);
const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const megabytes = (count: number): Buffer => randomBytes(count << 20);

describe('kubectl logs', () => {
  const counted = async (...flags: readonly string[]): Promise<readonly string[]> =>
    linesOf(await kubectl('logs', 'talk', '--container=count', ...flags));

  test('as much as is wanted', async () => {
    await until('all is said', async () => (await counted()).length === countedLines.length);
    assert.deepEqual(await counted(), countedLines);
    assert.deepEqual(await counted('--tail=2'), countedLines.slice(3));
    assert.deepEqual(await counted('--tail=0'), []);
    assert.equal(await kubectl('logs', 'talk', '--limit-bytes=9'), 'line 1\nli');

    const stamped = (await counted('--timestamps')).map((line) => /^(\S+Z) (.*)$/.exec(line) ?? []);
    assert.deepEqual(
      stamped.map(([, , content]) => content),
      countedLines,
    );
    const times = stamped.map(([, time = '']) => time);
    assert.deepEqual(times.toSorted(), times);
    assert.ok(
      times.every((time) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/.test(time)),
      times.join(),
    );

    const second = `${times[3]?.slice(0, 19)}Z`;
    assert.deepEqual(await counted(`--since-time=${second}`), countedLines.slice(3));
    assert.deepEqual(await counted('--since=1h'), countedLines);
    assert.deepEqual(await counted('--since=1h', '--tail=4', '--limit-bytes=14'), countedLines.slice(1, 3));
    await until('all is older than a second', async () => (await counted('--since=1s')).length === 0);
  });

  test('of the container that is meant', async () => {
    assert.equal(await kubectl('logs', 'talk', '--container=other'), 'other\n');
    const { stdout, stderr } = await world.run(['logs', 'talk', '--tail=1']);
    assert.equal(stdout.toString(), 'line 5\n');
    assert.match(stderr, /^Defaulted container "count" out of: count, other\n$/);
    const all = linesOf(await kubectl('logs', 'talk', '--all-containers', '--prefix'));
    // kubectl begins with either.
    assert.deepEqual(all.toSorted(), [
      ...countedLines.map((line) => `[pod/talk/count] ${line}`),
      '[pod/talk/other] other',
    ]);
  });

  test('of the instance before', async () => {
    await until('it was restarted', async () => (await kubectl('logs', 'again')) === 'second\n');
    assert.equal(await kubectl('logs', 'again', '--previous'), 'first\n');
    // The words of a Go kubelet.
    const none = 'Error from server (BadRequest): previous terminated container "count" in pod "talk" not found';
    assert.equal(await refused('logs', 'talk', '--container=count', '--previous'), none);
    const waiting =
      'Error from server (BadRequest): container "main" in pod "waits" is waiting to start: ErrImageNeverPull';
    assert.equal(await refused('logs', 'waits'), waiting);
  });

  test('followed to the end of the container, a last line without an end included', async () => {
    const follower = world.session('logs', 'brief', '--follow');
    await follower.said(/^ready\n/);
    await kubectl('exec', 'brief', '--', 'touch', goFile);
    const { code, stdout, stderr } = await follower.ended;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout.toString(), 'ready\nlast\nunfinished');
  });

  test('followed across rotations: every line once and in order', async () => {
    const followers = [
      world.session('logs', 'flood', '--follow'),
      world.session('logs', 'flood', '-f', '--timestamps'),
    ];
    await Promise.all(followers.map((follower) => follower.said(/ready\n/)));
    await kubectl('exec', 'flood', '--', 'touch', goFile);
    const expected = Array.from({ length: flood.portions * flood.portion }, (_, index) => index);
    for (const follower of followers) {
      await follower.said(/the end\n$/);
      const lines = linesOf(follower.text).map((line) => line.replace(/^2\S+Z /, ''));
      assert.deepEqual([lines.shift(), lines.pop()], ['ready', 'the end']);
      assert.ok(lines.every((line) => line.length === 47));
      assert.deepEqual(
        lines.map((line) => Number(line.slice(0, 8))),
        expected,
      );
      await follower.kill();
    }
    const { metadata } = await world.here.podReady('flood');
    const files = readdirSync(join(world.node.names.podLogs, `default_flood_${metadata?.uid}`, 'main'));
    assert.ok(files.length >= 4, `it was rotated: ${files.join()}`);
  });
});

describe('kubectl exec', () => {
  test('both outputs apart, and the exit code', async () => {
    const script = 'echo out; echo err >&2; exit 42';
    const { code, stdout, stderr } = await world.run(['exec', 'talk', '--container=other', '--', 'sh', '-c', script]);
    assert.deepEqual([code, stdout.toString()], [42, 'out\n']);
    assert.equal(stderr, 'err\ncommand terminated with exit code 42\n');
  });

  test('megabytes of input to its end, and both ways at once', async () => {
    const data = megabytes(8);
    const [sum, echo] = await Promise.all([
      world.run(['exec', '-i', 'talk', '--container=other', '--', 'sha256sum'], data),
      world.run(['exec', '-i', 'talk', '--container=count', '--', 'cat'], data),
    ]);
    assert.deepEqual([sum.code, sum.stdout.toString(), sum.stderr], [0, `${sha256(data)}  -\n`, '']);
    assert.deepEqual([echo.code, sha256(echo.stdout), echo.stderr], [0, sha256(data), '']);
  });

  test('a terminal has the size of the one outside, also when that changes', async () => {
    const terminal = world.terminal('rows 37 cols 91', 'exec', '-it', 'talk', '--container=other', '--', 'sh');
    await terminal.said(/# /);
    for (const size of ['37 91', '20 40']) {
      const [rows, columns] = size.split(' ');
      if (size !== '37 91') await terminal.resize(`rows ${rows} cols ${columns}`);
      await until(`the size is ${size}`, async () => {
        const since = terminal.text.length;
        terminal.write('stty size; echo do""ne\n');
        await terminal.said(/done/, since);
        return terminal.text.slice(since).includes(`\n${size}\r\n`);
      });
    }
    terminal.write('tty && exit 3\n');
    const { code, stdout } = await terminal.ended;
    assert.match(stdout.toString(), /\n\/dev\/pts\/\d+\r\n[^]*command terminated with exit code 3/);
    assert.equal(code, 3);
  });

  test('what cannot be run', async () => {
    assert.match(await refused('exec', 'talk', '--', '/no/such'), /"\/no\/such": .*no such file or directory/);
    const waiting = 'error: Internal error occurred: unable to upgrade connection: container not found ("main")';
    assert.equal(await refused('exec', 'waits', '--', 'true'), waiting);
  });
});

describe('kubectl attach', () => {
  test('to a container that reads lines, twice', async () => {
    for (const word of ['one', 'two']) {
      const session = world.session('attach', '-i', 'reads', '--container=lines');
      session.write(`${word}\n`);
      await session.said(new RegExp(`got ${word}\n$`));
      session.end();
      const { code, stderr } = await session.ended;
      assert.equal(code, 0, stderr);
    }
    assert.equal(await kubectl('logs', 'reads', '--container=lines'), 'got one\ngot two\n');
  });

  test('megabytes to the end of the only input that a container gets', async () => {
    const data = megabytes(3);
    const { code, stdout, stderr } = await world.run(['attach', '-i', 'reads', '--container=sums'], data);
    assert.equal(code, 0, stderr);
    assert.equal(stdout.toString(), `${sha256(data)}  -\n`);
    assert.equal(await kubectl('logs', 'reads', '--container=sums'), `${sha256(data)}  -\n`);
  });
});

describe('kubectl port-forward', () => {
  /** The forward of a port of the pod `serve`, and the port here. */
  async function forward(port: number): Promise<{ readonly port: number; readonly session: KubectlSession }> {
    const session = world.session('port-forward', '--address=127.0.0.1', 'pod/serve', `:${port}`);
    const [, local] = await session.said(/^Forwarding from 127\.0\.0\.1:(\d+) -> \d+\n/);
    return { port: Number(local), session };
  }

  test('twenty connections at once, megabytes each way, each ended by itself', async () => {
    const { port, session } = await forward(ports.echo);
    const connections: EchoConnection[] = [];
    for (let count = 0; count < 20; count++) connections.push(await EchoConnection.open(port));
    await Promise.all(
      connections.map(async (connection) => {
        const data = megabytes(2);
        assert.equal(sha256(await connection.exchange(data)), sha256(data), session.stderr);
      }),
    );
    assert.equal(session.stderr, '');
    await session.kill();
  });

  test('a server that ends first', async () => {
    const { port, session } = await forward(ports.greeting);
    for (let turn = 0; turn < 2; turn++) {
      const answer = await buffer(connect({ host: '127.0.0.1', port, allowHalfOpen: true }));
      assert.equal(answer.toString(), 'hello there\n');
    }
    await session.kill();
  });

  test('a port where nobody listens', async () => {
    const { port, session } = await forward(ports.nobody);
    const answer = await buffer(connect({ host: '127.0.0.1', port }));
    assert.equal(answer.length, 0);
    // It is kubectl that gives up then, with any agent.
    const { stderr } = await session.ended;
    assert.match(stderr, /error forwarding port 8084 to pod [^]*connection refused[^]*error: lost connection to pod/);

    const admin = await world.plane.authority.issue('forwarder', { user: 'forwarder', group: 'system:masters' });
    const request = { ...world.direct(admin), path: '/portForward/default/serve' };
    assert.match(await refusalInSession(request, ports.nobody, ports.echo), /connection refused/);
  });
});

describe('kubectl cp', () => {
  test('a folder there and back', async () => {
    const [there, back] = [join(world.plane.path, 'copied'), join(world.plane.path, 'copied-back')];
    mkdirSync(join(there, 'inner'), { recursive: true });
    const files = { 'large.bin': megabytes(5), 'inner/small.txt': Buffer.from('words\n') };
    for (const [name, data] of Object.entries(files)) writeFileSync(join(there, name), data);
    await kubectl('cp', there, 'talk:/tmp/copied', '--container=other');
    const sums = await kubectl('exec', 'talk', '--container=other', '--', 'sha256sum', '/tmp/copied/large.bin');
    assert.equal(sums.split(' ')[0], sha256(files['large.bin']));
    await kubectl('cp', 'talk:/tmp/copied', back, '--container=other');
    for (const [name, data] of Object.entries(files))
      assert.equal(sha256(readFileSync(join(back, name))), sha256(data));
    rmSync(there, { recursive: true });
  });
});

describe('kubectl debug', () => {
  const debug = (container: string): readonly string[] => [
    'debug',
    'talk',
    `--image=${world.node.image}`,
    '--image-pull-policy=Never',
    '--profile=general',
    `--container=${container}`,
    '--target=count',
  ];
  const statusOf = (pod: Pod, name: string): ContainerStatus | undefined =>
    pod.status?.ephemeralContainerStatuses?.find((status) => status.name === name);

  test('a container that stays: its logs, a command in it, and the processes of its target', async () => {
    await kubectl(...debug('stays'), '--attach=false', '--', 'sh', '-c', 'echo stays; sleep 1000');
    const pod = await world.here.podWhen(
      'talk',
      'has it',
      (seen) => statusOf(seen, 'stays')?.state?.running !== undefined,
    );
    assert.equal(
      pod.status?.containerStatuses?.every(({ restartCount }) => restartCount === 0),
      true,
    );
    await until('it has spoken', async () => (await kubectl('logs', 'talk', '--container=stays')) === 'stays\n');
    assert.match(await kubectl('exec', 'talk', '--container=stays', '--', 'ps'), / 1 root .*echo line 1;/);
    assert.match(await kubectl('describe', 'pod', 'talk'), /Ephemeral Containers:\n  stays:[^]*State: +Running\n/);
  });

  test('a container that is talked with, and its end', async () => {
    const session = world.session(...debug('asks'), '-i', '--', 'sh', '-c', 'read line; echo "got $line"; exit 5');
    session.write('something\n');
    await session.said(/got something\n/);
    const pod = await world.here.podWhen(
      'talk',
      'has seen it end',
      (seen) => statusOf(seen, 'asks')?.state?.terminated !== undefined,
    );
    assert.equal(statusOf(pod, 'asks')?.state?.terminated?.exitCode, 5);
    assert.equal(await kubectl('logs', 'talk', '--container=asks'), 'got something\n');
    await session.ended;
  });
});

describe('a static pod', () => {
  test('is reached by the name of its mirror', async () => {
    assert.equal(await kubectl('logs', 'fixed-node-1', '--tail=5'), 'from a file\n');
    assert.equal(await kubectl('exec', 'fixed-node-1', '--', 'hostname'), 'fixed-node-1\n');
  });
});

describe('pages of the node through the API server', () => {
  const namesOf = (list: string): readonly string[] =>
    (JSON.parse(list) as { readonly items: readonly Pod[] }).items.map(({ metadata }) => metadata?.name ?? '');

  test('pods, configuration and health', async () => {
    const names = ['again', 'brief', 'fixed-node-1', 'flood', 'reads', 'serve', 'talk', 'waits'];
    assert.deepEqual(namesOf(await world.raw('pods')).toSorted(), names);
    const running = namesOf(await world.raw('runningpods/'));
    assert.deepEqual(
      ['talk', 'fixed-node-1'].map((name) => running.includes(name)),
      [true, true],
    );
    const { kubeletconfig } = JSON.parse(await world.raw('configz')) as {
      readonly kubeletconfig: Record<string, unknown>;
    };
    assert.equal(kubeletconfig['containerLogMaxSize'], '256Ki');
    assert.equal(await world.raw('healthz'), 'ok');
    assert.equal(await world.raw('healthz/syncloop'), 'ok');
  });

  test('figures', async () => {
    interface Summary {
      readonly node: { readonly nodeName: string };
      readonly pods: readonly {
        readonly podRef: { readonly name: string };
        readonly containers: readonly { readonly name: string }[];
      }[];
    }
    const { node, pods } = JSON.parse(await world.raw('stats/summary')) as Summary;
    assert.equal(node.nodeName, world.node.name);
    const containers = pods.find(({ podRef }) => podRef.name === 'serve')?.containers.map(({ name }) => name);
    assert.deepEqual(containers, ['main']);
    // Health checks are counted when somebody asks for them.
    assert.match(await world.raw('healthz?verbose'), /^\[\+\]syncloop ok$/m);
    for (const [page, pattern] of [
      ['metrics', /^kubelet_http_requests_total\{.*path="exec".*\} [1-9]/m],
      ['metrics/cadvisor', /^container_cpu_usage_seconds_total\{.*pod="serve".*\} /m],
      ['metrics/resource', /^container_memory_working_set_bytes\{.*pod="serve".*\} [1-9]/m],
      ['metrics/probes', /^prober_probe_total\{.*pod="serve".*probe_type="Readiness".*\} [1-9]/m],
      ['metrics/slis', /^kubernetes_healthcheck\{name="syncloop",type="healthz"\} 1$/m],
    ] as const) {
      assert.match(await world.raw(page), pattern);
    }
  });

  test('files below /var/log', async () => {
    const name = `tubelet-test-${randomBytes(4).toString('hex')}.log`;
    writeFileSync(join('/var/log', name), 'a line\n');
    try {
      assert.ok((await world.raw('logs/')).includes(`>${name}</a>`));
      assert.equal(await world.raw(`logs/${name}`), 'a line\n');
    } finally {
      rmSync(join('/var/log', name));
    }
    assert.match(await refused('get', '--raw', '/api/v1/nodes/node-1/proxy/logs/no-such'), /NotFound/);
  });
});

test('no session is left when all have ended', async () => {
  const underWay = async (): Promise<readonly string[]> => {
    const metric = /^kubelet_http_inflight_requests\{.*path="(.+?)".*\} [1-9]\d*$/gm;
    return [...(await world.raw('metrics')).matchAll(metric)].map(([, path = '']) => path);
  };
  await until('nothing but this is under way', async () => (await underWay()).join() === 'metrics', {
    state: underWay,
  });
});

describe('who asks the agent itself', () => {
  test('is refused without credentials, and with bad ones', () => access.badCredentials());
  test('is told what is missing, and let in while it is granted', () => access.grantedAndTakenBack());
  test('each right opens its own pages alone', () => access.eachRightAlone());
  test('may show the token of a service account', () => access.serviceAccount());
  test('needs `create` to run something, by whatever method', () => access.commandsNeedCreate());
});

describe('while the agent runs, files may be replaced', () => {
  test('the certificate authorities for clients', () => access.clientAuthorities());
  test('the serving certificate', () => access.servingCertificate());
});

describe('TUBELET_STREAMING_VERBS=upstream', () => {
  test('lets everybody run commands who may read by nodes/proxy', () => access.upstreamVerbs());
});
