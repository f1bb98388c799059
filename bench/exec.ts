// What it costs that sessions go through the agent: the same exec on a real private containerd, once by way of the agent's
// handler and hand-over, once straight to the runtime's streaming server. Both ask the runtime for a session each time.
// Three things: a whole `true` with its exit code, one line there and back in an open session, and 64 MiB through `cat`.
import { SpdyClient, type SessionRequest, type SpdyStream } from '../test/support/spdy-client.ts';
import { StreamingWorld } from '../test/support/streaming-world.ts';
import { median, quantile, record } from './support.ts';

const limits = { ratio: 1.2 };
const rounds = { commands: 60, lines: 400, streams: 4 };
const warmUps = 5;
const bulk = 64 << 20;

type Way = 'direct' | 'agent';
type Times = Readonly<Record<Way, number[]>>;

const world = await StreamingWorld.start(['main']);
try {
  const commands = await alternate(rounds.commands, (way) => runTrue(way));
  const lines = await measureLines();
  const streams = await alternate(rounds.streams, (way) => runCat(way));
  const result = {
    commandMs: summary(commands),
    lineMs: summary(lines),
    bulkMs: summary(streams),
    limits,
  };
  record('exec', result);
  const aim = ` (aim: at most ${limits.ratio})`;
  show(`exec of true, with its exit code, median of ${rounds.commands}`, result.commandMs, aim);
  show(`one line there and back in an open session, median of ${rounds.lines}`, result.lineMs, aim);
  show(`${bulk >> 20} MiB there and back through cat, median of ${rounds.streams}`, result.bulkMs);
} finally {
  await world.destroy();
}

/** Where to ask for a session: at the agent by a path that names all, or at the address that the runtime gives. */
async function address(way: Way, cmd: readonly string[]): Promise<SessionRequest> {
  if (way === 'agent') {
    const query = new URLSearchParams([
      ...cmd.map((word): [string, string] => ['command', word]),
      ...['input', 'output', 'error'].map((name): [string, string] => [name, '1']),
    ]);
    return { port: world.front.port, path: `/exec/default/web/main?${query.toString()}` };
  }
  const { containers } = await world.observed();
  const containerId = containers[0]?.id ?? '';
  const { url } = await world.cri.exec({
    containerId,
    cmd: [...cmd],
    tty: false,
    stdin: true,
    stdout: true,
    stderr: true,
  });
  const { hostname, port, pathname } = new URL(url);
  return { host: hostname, port: Number(port), path: pathname };
}

interface Session {
  readonly client: SpdyClient;
  readonly error: SpdyStream;
  readonly stdin: SpdyStream;
  readonly stdout: SpdyStream;
}

async function open(way: Way, cmd: readonly string[]): Promise<Session> {
  const client = await SpdyClient.open(await address(way, cmd), ['v4.channel.k8s.io']);
  const stream = (streamType: string): SpdyStream => client.stream({ streamType });
  const session = { client, error: stream('error'), stdin: stream('stdin'), stdout: stream('stdout') };
  stream('stderr');
  return session;
}

async function runTrue(way: Way): Promise<void> {
  const { client, error } = await open(way, ['true']);
  const status = await error.incoming.whole();
  if (!status.includes('Success')) throw new Error(`true ended with ${status}`);
  client.close();
}

async function runCat(way: Way): Promise<void> {
  const { client, stdin, stdout } = await open(way, ['cat']);
  stdin.end(Buffer.alloc(bulk, 'x'));
  await stdout.incoming.until(() => stdout.incoming.bytes === bulk);
  client.close();
}

/** Both sessions are open all the time, so that only the way of the bytes differs. */
async function measureLines(): Promise<Times> {
  const sessions = { direct: await open('direct', ['cat']), agent: await open('agent', ['cat']) };
  const times = await alternate(rounds.lines, async (way) => {
    const { stdin, stdout } = sessions[way];
    const before = stdout.incoming.bytes;
    stdin.write('a line of a session\n');
    await stdout.incoming.until(() => stdout.incoming.bytes === before + 20);
  });
  for (const { client } of Object.values(sessions)) client.close();
  return times;
}

/** There and back, so that neither way always comes first. */
async function alternate(count: number, run: (way: Way) => Promise<void>): Promise<Times> {
  const times: Times = { direct: [], agent: [] };
  for (let round = -Math.min(warmUps, count); round < count; round++) {
    const ways: readonly Way[] = round % 2 === 0 ? ['direct', 'agent'] : ['agent', 'direct'];
    for (const way of ways) {
      const began = performance.now();
      await run(way);
      if (round >= 0) times[way].push(performance.now() - began);
    }
  }
  return times;
}

interface Summary {
  readonly direct: number;
  readonly agent: number;
  readonly ratio: number;
  readonly agent90: number;
}

function summary({ direct, agent }: Times): Summary {
  const [one, other] = [median(direct), median(agent)];
  return { direct: one, agent: other, ratio: other / one, agent90: quantile(agent, 0.9) };
}

function show(what: string, { direct, agent, ratio }: Summary, aim = ''): void {
  console.log(what);
  console.log(`  direct ${direct.toFixed(2)} ms, through the agent ${agent.toFixed(2)} ms`);
  console.log(`  ratio ${ratio.toFixed(2)}${aim}`);
}
