import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { NoSession, SpdyClient, type SpdyStream } from '../support/spdy-client.ts';
import { echoPort, StreamingWorld } from '../support/streaming-world.ts';
import { until } from '../support/real-wait.ts';
import { ChannelSocket } from '../support/websocket-client.ts';

// What containerd 1.6 speaks: SPDY/3.1 with the protocols v4 and older, and WebSockets with v4.channel.k8s.io and older.
// It does not know v5, so over its WebSockets the end of stdin cannot be told; its SPDY streams end each by itself.
const spdyExec = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v3.channel.k8s.io'];
const webSocketExec = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 } as const;

let world: StreamingWorld;
before(async () => {
  world = await StreamingWorld.start(['main', 'echo', 'reader', 'terminal']);
});
after(() => world.destroy());

const at = (path: string): { readonly port: number; readonly path: string } => ({ port: world.front.port, path });

function execPath(command: readonly string[], streams: string, container = 'main', verb = 'exec'): string {
  const query = new URLSearchParams(streams);
  for (const word of command) query.append('command', word);
  return `/${verb}/default/web/${container}?${query.toString()}`;
}

interface Session {
  readonly client: SpdyClient;
  readonly error: SpdyStream;
  readonly stdin: SpdyStream;
  readonly stdout: SpdyStream;
  readonly stderr: SpdyStream | undefined;
  readonly resize: SpdyStream | undefined;
}

async function openSpdy(path: string, tty = false): Promise<Session> {
  const client = await SpdyClient.open(at(path), spdyExec);
  const stream = (streamType: string): SpdyStream => client.stream({ streamType });
  return {
    client,
    error: stream('error'),
    stdin: stream('stdin'),
    stdout: stream('stdout'),
    stderr: tty ? undefined : stream('stderr'),
    resize: tty ? stream('resize') : undefined,
  };
}

const inOutErr = 'input=1&output=1&error=1';
const inOutTty = 'input=1&output=1&tty=1';

/** How the command ended: its exit code, or 0. */
function exitCode(status: string): number {
  interface Status {
    readonly status: string;
    readonly details?: { readonly causes?: readonly { readonly reason: string; readonly message: string }[] };
  }
  const { status: word, details } = JSON.parse(status) as Status;
  if (word === 'Success') return 0;
  return Number(details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message);
}

describe('exec over SPDY', () => {
  test('both outputs apart, and the exit code', async () => {
    const session = await openSpdy(execPath(['sh', '-c', 'echo out; echo err >&2; exit 7'], inOutErr));
    assert.equal(await session.stdout.incoming.whole(), 'out\n');
    assert.equal(await session.stderr?.incoming.whole(), 'err\n');
    assert.equal(exitCode(await session.error.incoming.whole()), 7);
    session.client.close();
  });

  test('a command that reads to the end of its input, which ends while the output goes on', async () => {
    const session = await openSpdy(execPath(['md5sum'], inOutErr));
    const data = Buffer.alloc(8 << 20, 'some words ');
    session.stdin.write(data);
    session.stdin.end();
    const sum = createHash('md5').update(data).digest('hex');
    assert.equal(await session.stdout.incoming.whole(), `${sum}  -\n`);
    assert.equal(exitCode(await session.error.incoming.whole()), 0);
    session.client.close();
  });

  test('megabytes both ways at once, and every byte', async () => {
    const session = await openSpdy(execPath(['cat'], inOutErr));
    const bytes = 16 << 20;
    session.stdin.end(Buffer.alloc(bytes, 'x'));
    await session.stdout.incoming.until(() => session.stdout.incoming.ended);
    assert.equal(session.stdout.incoming.bytes, bytes);
    assert.equal(exitCode(await session.error.incoming.whole()), 0);
    session.client.close();
  });

  test('a terminal, its size, and what becomes of it', async () => {
    const session = await openSpdy(execPath(['sh'], inOutTty), true);
    const { incoming } = session.stdout;
    session.resize?.write('{"Width":91,"Height":37}\n');
    await until('the terminal has its size', async () => {
      const before = incoming.text.length;
      session.stdin.write('stty size; echo do""ne\n');
      await incoming.until(() => incoming.text.slice(before).includes('done'));
      return incoming.text.slice(before).includes('37 91');
    });
    session.resize?.write('{"Width":40,"Height":20}\n');
    await until('the terminal has its new size', async () => {
      const before = incoming.text.length;
      session.stdin.write('stty size; echo do""ne\n');
      await incoming.until(() => incoming.text.slice(before).includes('done'));
      return incoming.text.slice(before).includes('20 40');
    });
    session.stdin.write('exit 3\n');
    assert.equal(exitCode(await session.error.incoming.whole()), 3);
    session.client.close();
  });

  test('a client that leaves leaves nothing open', async () => {
    const session = await openSpdy(execPath(['sleep', '1000'], inOutErr));
    session.client.close();
    await until('all sessions have ended', () => world.front.open === 0);
  });

  test('what the runtime cannot run', async () => {
    const session = await openSpdy(execPath(['/no/such/program'], inOutErr));
    assert.match(await session.error.incoming.whole(), /no such file or directory/);
    session.client.close();
  });

  test('a pod and a container that are not there', async () => {
    const path = execPath(['true'], 'output=1').replace('/web/', '/other/');
    await assert.rejects(SpdyClient.open(at(path), spdyExec), new NoSession(404, 'pod does not exist\n'));
    await assert.rejects(
      SpdyClient.open(at(execPath(['true'], 'output=1', 'other')), spdyExec),
      new NoSession(500, 'container not found ("other")\n'),
    );
  });
});

describe('exec over WebSocket', () => {
  test('the runtime chooses v4; input, outputs and the exit code', async () => {
    const socket = await ChannelSocket.open(
      at(execPath(['sh', '-c', 'read x; echo "$x"; exit 5'], inOutErr)),
      webSocketExec,
    );
    assert.equal(socket.protocol, 'v4.channel.k8s.io');
    socket.send(channels.stdin, 'hello\n');
    const status = socket.channel(channels.status);
    await status.until(() => status.text.endsWith('}'));
    assert.equal(exitCode(status.text), 5);
    assert.equal(socket.channel(channels.stdout).text, 'hello\n');
    socket.close();
  });

  test('a client that speaks v5 alone gets the runtime’s own refusal', async () => {
    await assert.rejects(
      ChannelSocket.open(at(execPath(['true'], 'output=1')), ['v5.channel.k8s.io']),
      new NoSession(403, ''),
    );
  });
});

describe('attach', () => {
  test('to a process that reads', async () => {
    const session = await openSpdy(execPath([], inOutErr, 'reader', 'attach'));
    session.stdin.write('one\ntwo\n');
    const { incoming } = session.stdout;
    await incoming.until(() => incoming.text.includes('got two\n'));
    assert.equal(incoming.text, 'got one\ngot two\n');
    session.client.close();
  });

  test('to a process with a terminal', async () => {
    const session = await openSpdy(execPath([], inOutTty, 'terminal', 'attach'), true);
    const { incoming } = session.stdout;
    session.stdin.write('echo "4$((1+1))"\n');
    await incoming.until(() => incoming.text.includes('42'));
    session.client.close();
    await until('all sessions have ended', () => world.front.open === 0);
  });
});

describe('port forwarding', () => {
  const path = '/portForward/default/web';

  interface Connection {
    readonly data: SpdyStream;
    readonly error: SpdyStream;
  }
  function connection(client: SpdyClient, port: number, requestID: number): Connection {
    const headers = { port: String(port), requestID: String(requestID) };
    const error = client.stream({ streamType: 'error', ...headers });
    return { error, data: client.stream({ streamType: 'data', ...headers }) };
  }

  test('many connections over one session, megabytes each way', async () => {
    const client = await SpdyClient.open(at(path), ['portforward.k8s.io']);
    const bytes = 2 << 20;
    const connections: SpdyStream[] = [];
    // They are opened one after the other, because the echo may turn away who comes while it forks; all stay open.
    for (let index = 0; index < 10; index++) {
      const { data } = connection(client, echoPort, index);
      data.write(String(index));
      await data.incoming.until(() => data.incoming.bytes === 1);
      connections.push(data);
    }
    await Promise.all(
      connections.map(async (data, index) => {
        data.write(Buffer.alloc(bytes - 1, String(index)));
        await data.incoming.until(() => data.incoming.bytes === bytes);
        assert.equal(data.incoming.text.replaceAll(String(index), ''), '');
        data.end();
      }),
    );
    client.close();
    await until('all sessions have ended', () => world.front.open === 0);
  });

  test('a port at which nobody listens', async () => {
    const client = await SpdyClient.open(at(path), ['portforward.k8s.io']);
    const { error } = connection(client, 9, 0);
    assert.match(await error.incoming.whole(), /connection refused/);
    client.close();
  });

  test('over a WebSocket, with the port in the query', async () => {
    const socket = await ChannelSocket.open(at(`${path}?port=${echoPort}`), ['v4.channel.k8s.io']);
    const data = socket.channel(0);
    // Each channel begins with the number of its port.
    await data.until(() => data.bytes === 2);
    socket.send(0, 'there and back');
    await data.until(() => data.text.endsWith('there and back'));
    socket.close();
    await assert.rejects(
      ChannelSocket.open(at(path), ['v4.channel.k8s.io']),
      new NoSession(400, 'query parameter "port" is required\n'),
    );
  });
});
