// What it costs that sessions go through the agent: the same exec on a real private containerd, once over TLS through the
// secured port of an agent's process, once straight to the runtime's streaming server, in the clear. The runtime is asked
// for a session each time. Three things: a whole `true` with its exit code, which has a new connection and its handshake in
// it, one line there and back in an open session, and 64 MiB through `cat`.
import { renameSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { noCalls } from '../src/base/calls.ts';
import { silentLog } from '../src/base/log.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { connectCri } from '../src/cri/index.ts';
import type { Pod } from '../src/gen/kubernetes/types.ts';
import { SpdyClient, type SessionRequest, type SpdyStream } from '../test/support/spdy-client.ts';
import { freePort, median, quantile, record, startBenchNode, until, type BenchNode } from './support.ts';

const limits = { ratio: 1.2 };
const rounds = { commands: 60, lines: 400, streams: 4 };
const warmUps = 5;
const bulk = 64 << 20;

type Way = 'direct' | 'agent';
type Times = Readonly<Record<Way, number[]>>;

const port = await freePort();
const authentication = { anonymous: { enabled: true }, webhook: { enabled: false } };
const node = await startBenchNode({ verbosity: 2, config: { port, authentication } });
const cri = connectCri({
  calls: noCalls,
  endpoint: node.runtime.endpoint,
  clock: systemClock(),
  log: silentLog,
  timeouts: { requestMs: 120_000 },
});
let target: Target | undefined;
try {
  target = await startPod(node);
  const commands = await alternate(rounds.commands, (way) => runTrue(way));
  const lines = await measureLines();
  const streams = await alternate(rounds.streams, (way) => runCat(way));
  const result = {
    commandMs: summary(commands),
    lineMs: summary(lines),
    bulkMs: summary(streams),
    limits,
    load: loadavg()[0],
  };
  record('exec', result);
  console.log(`load ${result.load?.toFixed(1)} on ${cpus().length} cores`);
  const aim = ` (aim: at most ${limits.ratio})`;
  show(`exec of true, with its exit code, median of ${rounds.commands}`, result.commandMs, aim);
  show(`one line there and back in an open session, median of ${rounds.lines}`, result.lineMs, aim);
  show(`${bulk >> 20} MiB there and back through cat, median of ${rounds.streams}`, result.bulkMs);
} finally {
  cri.close();
  await node.destroy();
}

interface Target {
  /** As the agent calls it. */
  readonly pod: string;
  readonly containerId: string;
}

async function startPod({ staging, manifests, runtime, podsUrl }: BenchNode): Promise<Target> {
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: {
      containers: [
        {
          name: 'main',
          image: runtime.images.busybox,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', 'trap "exit 0" TERM; sleep 100000 & wait'],
        },
      ],
    },
  };
  writeFileSync(join(staging, 'web'), JSON.stringify(manifest));
  renameSync(join(staging, 'web'), join(manifests, 'web.json'));
  let found: Target | undefined;
  await until(async () => {
    const { items } = (await (await fetch(podsUrl)).json()) as { readonly items: readonly Pod[] };
    const { metadata, status } = items[0] ?? {};
    if (status?.phase !== 'Running') return false;
    const id = status.containerStatuses?.[0]?.containerID ?? '';
    found = { pod: metadata?.name ?? '', containerId: id.replace(/^.*:\/\//, '') };
    return true;
  });
  if (found === undefined) throw new Error('there is no pod');
  return found;
}

/** Where to ask for a session: at the agent by a path that names all, or at the address that the runtime gives. */
async function address(way: Way, cmd: readonly string[]): Promise<SessionRequest> {
  if (target === undefined) throw new Error('there is no pod yet');
  if (way === 'agent') {
    const query = new URLSearchParams([
      ...cmd.map((word): [string, string] => ['command', word]),
      ...['input', 'output', 'error'].map((name): [string, string] => [name, '1']),
    ]);
    const path = `/exec/default/${target.pod}/main?${query.toString()}`;
    return { port, path, tls: { rejectUnauthorized: false } };
  }
  const { url } = await cri.exec({
    containerId: target.containerId,
    cmd: [...cmd],
    tty: false,
    stdin: true,
    stdout: true,
    stderr: true,
  });
  const place = new URL(url);
  return { host: place.hostname, port: Number(place.port), path: place.pathname };
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
