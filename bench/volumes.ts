// What volumes add to the start of pods: a hundred at once with a ConfigMap, a Secret and a projected volume each, against the
// same pods without. On a runtime without latency for the agent's own cost, on a real private containerd for the share, and
// with a real API server that hands out their tokens.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Pod, Volume } from '../src/gen/kubernetes/types.ts';
import { aContainer, aPod } from '../src/testing/pods.ts';
import { AgentWorld } from '../test/support/agent-world.ts';
import { usage } from './support-usage.ts';
import { crowds, type Kind } from './support-volumes-cluster.ts';
import { median, parseLog, record, startBenchNode, until, type BenchNode } from './support.ts';

const { values: options } = parseArgs({
  options: {
    pods: { type: 'string', default: '100' },
    /** Each is without, with, with, without. */
    rounds: { type: 'string', default: '2' },
    only: { type: 'string', default: 'fakes,real,cluster' },
  },
});
const count = Number(options.pods);
const rounds = Number(options.rounds);
const aim = 1.1;

const thereAndBack: readonly Kind[] = ['without', 'with', 'with', 'without'];

const data = { color: 'green', 'settings.json': JSON.stringify({ many: 'x'.repeat(2_000) }) };

/** A token is a file of a projected volume; without an API server no token is issued, and a Secret stands in its place. */
const volumes: readonly Volume[] = [
  { name: 'config', configMap: { name: 'settings' } },
  { name: 'secret', secret: { secretName: 'keys' } },
  {
    name: 'access',
    projected: {
      sources: [
        { secret: { name: 'keys', items: [{ key: 'color', path: 'token' }] } },
        { configMap: { name: 'settings', items: [{ key: 'settings.json', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
      ],
    },
  },
];

const mountsOf = (all: readonly Volume[]) => all.map(({ name }) => ({ name, mountPath: `/${name}` }));

interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

const ratioOf = (figures: Readonly<Record<Kind, readonly number[]>>): number =>
  mean(figures.with) / mean(figures.without);

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const chosen = new Set(options.only.split(','));
const load = loadavg()[0];
const fakes = chosen.has('fakes') ? await onFakes() : undefined;
const real = chosen.has('real') ? await onContainerd() : undefined;
const cluster = chosen.has('cluster') ? await onCluster() : undefined;
record('volumes', { pods: count, rounds, load, fakes, real, cluster, aim });
console.log(`${count} pods at once, each with a ConfigMap, a Secret and a projected volume, against the same without`);
console.log(`  load before: ${load?.toFixed(1)}`);
if (fakes)
  console.log(`  without latency: ${fakes.addedCpuMs.toFixed(2)} ms of CPU more a pod (of ${fakes.cpuMs.toFixed(2)})`);
if (real) tell('containerd', real);
if (cluster) tell('containerd and API server', cluster);

function tell(where: string, { ms, cpuMs, ratio, load: meanwhile }: RealResult): void {
  const seconds = (all: readonly number[]): string => all.map((each) => (each / 1_000).toFixed(1)).join(', ');
  console.log(`  ${where}, seconds: without ${seconds(ms.without)}; with ${seconds(ms.with)}`);
  console.log(`  ratio ${ratio.toFixed(3)} (aim: at most ${aim}); load meanwhile ${meanwhile.toFixed(1)}`);
  console.log(`  CPU of the agent a pod: without ${cpuMs.without.toFixed(1)} ms, with ${cpuMs.with.toFixed(1)} ms`);
}

async function onFakes(): Promise<{ readonly cpuMs: number; readonly addedCpuMs: number }> {
  const costs: Record<Kind, number[]> = { without: [], with: [] };
  // The first round warms the compiler up and is thrown away.
  for (let round = 0; round <= rounds; round++) {
    for (const kind of thereAndBack) {
      const cpuMs = await fakeRound(kind);
      if (round > 0) costs[kind].push(cpuMs / count);
    }
  }
  const [without, withVolumes] = [median(costs.without), median(costs.with)];
  return { cpuMs: without, addedCpuMs: withVolumes - without };
}

async function fakeRound(kind: Kind): Promise<number> {
  const world = new AgentWorld({ config: { maxPods: count + 1 } });
  await world.start();
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  await world.objects(
    { namespace: 'default', kind: 'ConfigMap', name: 'settings', object: { data } },
    { namespace: 'default', kind: 'Secret', name: 'keys', object: { data: encoded } },
  );
  const used = kind === 'with' ? volumes : [];
  const spec = { volumes: used, containers: [aContainer('main', { volumeMounts: mountsOf(used) })] };
  const pods = Array.from({ length: count }, (_, index) => aPod({ uid: `uid-${index}`, name: `pod-${index}`, spec }));
  await world.manifests();
  const before = process.cpuUsage();
  await world.manifests(...pods);
  const { user, system } = process.cpuUsage(before);
  const running = pods.filter(({ uid }) => world.isReady(uid)).length;
  if (running !== count) throw new Error(`only ${running} of ${count} pods run`);
  await world.stop();
  return (user + system) / 1_000;
}

interface RealResult {
  readonly ms: Readonly<Record<Kind, readonly number[]>>;
  readonly cpuMs: Readonly<Record<Kind, number>>;
  readonly ratio: number;
  readonly load: number;
}

async function onContainerd(): Promise<RealResult> {
  const node = await startBenchNode({ verbosity: 2, config: { maxPods: count + 10 } });
  const ms: Record<Kind, number[]> = { without: [], with: [] };
  const cpu: Record<Kind, number[]> = { without: [], with: [] };
  const loads: number[] = [];
  try {
    // The first crowd is the slowest, whatever it has: images, threads and caches are warm afterwards.
    for (const kind of ['without', 'with'] as const) await realRound(node, `warm-${kind}`, kind, count);
    for (let round = 0; round < rounds; round++) {
      for (const [turn, kind] of thereAndBack.entries()) {
        const cost = await realRound(node, `r${round}-${turn}`, kind, count);
        ms[kind].push(cost.ms);
        cpu[kind].push(cost.cpuMs / count);
        loads.push(loadavg()[0] ?? Number.NaN);
        console.log(`  ${kind.padEnd(7)} ${(cost.ms / 1_000).toFixed(1)} s, load ${loads.at(-1)?.toFixed(1)}`);
      }
    }
  } finally {
    await node.destroy();
  }
  return { ms, cpuMs: { without: mean(cpu.without), with: mean(cpu.with) }, ratio: ratioOf(ms), load: median(loads) };
}

async function onCluster(): Promise<RealResult> {
  const warm = ['without', 'with'] as const;
  const kinds = [...warm, ...Array.from({ length: rounds }, () => thereAndBack).flat()];
  const turns = (await crowds(count, kinds, data)).slice(warm.length);
  const of = (kind: Kind) => turns.filter((turn) => turn.kind === kind);
  const ms = { without: of('without').map((turn) => turn.ms), with: of('with').map((turn) => turn.ms) };
  const cpu = (kind: Kind): number => mean(of(kind).map(({ cpuMs }) => cpuMs / count));
  const load = median(turns.map((turn) => turn.load));
  return { ms, cpuMs: { without: cpu('without'), with: cpu('with') }, ratio: ratioOf(ms), load };
}

/** From the rename of one list to the start of the last container, and the removal of all, which does not count. */
async function realRound(node: BenchNode, name: string, kind: Kind, pods: number): Promise<Cost> {
  const staged = join(node.staging, `${name}.json`);
  const shown = join(node.manifests, `${name}.json`);
  const objects = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: data },
  ];
  const all = Array.from({ length: pods }, (_, index) => manifest(node, `${name}-${index}`, kind));
  writeFileSync(staged, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...objects, ...all] }));
  const pid = node.agent.pid ?? 0;
  const cpuBefore = usage(pid).cpuSeconds;
  const from = readFileSync(node.logFile, 'utf8').length;
  const renamedAt = performance.timeOrigin + performance.now();
  renameSync(staged, shown);
  let starts: readonly number[] = [];
  await until(async () => {
    if (node.agent.exitCode !== null) return true;
    const lines = parseLog(readFileSync(node.logFile, 'utf8').slice(from));
    starts = lines
      .filter(({ msg, containerName }) => msg === 'Container started' && String(containerName).startsWith(`${name}-`))
      .map(({ ts }) => ts);
    return starts.length >= pods;
  }, 600_000);
  if (starts.length < pods) throw new Error('the agent has ended');
  const cpuMs = (usage(pid).cpuSeconds - cpuBefore) * 1_000;
  rmSync(shown);
  await until(async () => !(await (await fetch(node.podsUrl)).text()).includes(`"${name}-`), 600_000);
  // What is left of the pods goes in the background and must not weigh on the next round.
  const podsFolder = join(node.manifests, '../kubelet/pods');
  await until(async () => readdirSync(podsFolder).length === 0, 600_000);
  return { ms: Math.max(...starts) - renamedAt, cpuMs };
}

function manifest(node: BenchNode, name: string, kind: Kind): Pod {
  const used = kind === 'with' ? volumes : [];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 0,
      volumes: [...used],
      containers: [
        {
          name,
          image: node.runtime.images.busybox,
          imagePullPolicy: 'IfNotPresent',
          command: ['/bin/sh', '-c', 'trap "exit 0" TERM; sleep 1000 & wait'],
          volumeMounts: mountsOf(used),
        },
      ],
    },
  };
}
