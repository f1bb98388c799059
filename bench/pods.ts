// Pods of a real control plane, looked after by tubelet and by the Go kubelet of the same release, one after the other on
// one node and one containerd. The bench is a client with a watch; what it sees is what controllers see.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/system-clock.ts';
import { systemRandom } from '../src/base/system-random.ts';
import type { AgentProgram } from '../test/real/control-plane/join-node.ts';
import { BenchCluster, namespaceOf, type Lapse } from './support-pods-cluster.ts';
import { endOfPod, medianSteps, startOfPod, stepsOf, type Step } from './support-pods-walk.ts';
import { usage } from './support-usage.ts';
import { median, parseLog, record } from './support.ts';

const measures = {
  a: { what: 'create → Ready, one pod, median', unit: 'ms', aim: 0.4 },
  b: { what: 'pods at once until Ready, mean of 2', unit: 'ms', aim: 0.9 },
  c: { what: 'delete → gone, one pod, median', unit: 'ms', aim: 0.5 },
  d: { what: 'resident memory with all pods', unit: 'MB', aim: 0.9 },
  e: { what: 'CPU with all pods idle', unit: '% of a core', aim: 0.6 },
} as const;
type Measure = keyof typeof measures;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'a,b,c,d,e' },
    /** Who is measured; with one of them there are no ratios. */
    agents: { type: 'string', default: 'tubelet,kubelet' },
    /** Of each agent, one at a time. */
    pods: { type: 'string' },
    quick: { type: 'boolean', default: false },
    /** Shows the walk whether or not an aim is missed. */
    walk: { type: 'boolean', default: false },
  },
});
const only = new Set(options.only.split(','));
const agentsInTurn = (['tubelet', 'kubelet'] as const).filter((name) => options.agents.split(',').includes(name));
const wants = (...names: readonly Measure[]): boolean => names.some((name) => only.has(name));
const sizes = options.quick
  ? { singles: 6, atOnce: 10, crowd: 20, settleMs: 5_000, idleSeconds: 15, walks: 4 }
  : { singles: 20, atOnce: 50, crowd: 100, settleMs: 15_000, idleSeconds: 60, walks: 8 };
const singles = Number(options.pods ?? sizes.singles);
/** Longer than the ticks by which agents look around, so that pods come at any point of them. */
const longestPauseMs = 2_000;

/** For a closer look. */
const walkLog = 'bench/results/pods-walk.log';

const clock = systemClock();
const random = systemRandom();
const pause = (): Promise<void> => clock.sleep(200 + random.next() * longestPauseMs);

type Results = Partial<Record<Measure, number>>;
interface Samples {
  readonly ready: number[];
  readonly gone: number[];
  readonly atOnce: number[];
}
const samples: Record<AgentProgram, Samples> = {
  tubelet: { ready: [], gone: [], atOnce: [] },
  kubelet: { ready: [], gone: [], atOnce: [] },
};
const results: Record<AgentProgram, Results> = { tubelet: {}, kubelet: {} };
const loads: number[] = [];
let made = 0;

const cluster = await BenchCluster.start();
try {
  await measureAll();
} finally {
  await cluster.destroy();
}

async function measureAll(): Promise<void> {
  const half = Math.ceil(singles / 2);
  if (wants('a', 'c')) {
    // There and back: what else the machine does weighs on both.
    for (const agent of [...agentsInTurn, ...agentsInTurn.toReversed()]) {
      await cluster.use(agent);
      await measureSingles(agent, half);
    }
    for (const agent of agentsInTurn) {
      results[agent].a = median(samples[agent].ready);
      results[agent].c = median(samples[agent].gone);
    }
  }
  if (wants('b', 'd', 'e')) for (const agent of agentsInTurn) await measureCrowd(agent, wants('d', 'e'));
  if (wants('b')) for (const agent of agentsInTurn.toReversed()) await measureCrowd(agent, false);
  for (const agent of agentsInTurn) if (wants('b')) results[agent].b = mean(samples[agent].atOnce);
  const missed = (['a', 'c'] as const).filter((name) => wants(name) && ratioOf(name) > measures[name].aim);
  const walks = missed.length > 0 || options.walk ? await walkPods() : undefined;
  report(walks);
}

async function single(namespace: string): Promise<{ readonly name: string; readonly up: Lapse; readonly down: Lapse }> {
  const name = `bench-${made++}`;
  await pause();
  const up = await cluster.create(namespace, name);
  await pause();
  const down = await cluster.delete(namespace, name);
  loads.push(loadavg()[0] ?? Number.NaN);
  return { name, up, down };
}

async function measureSingles(agent: AgentProgram, count: number): Promise<void> {
  const namespace = namespaceOf[agent];
  // The first pod of an agent's life finds nothing warm.
  await single(namespace);
  for (let index = 0; index < count; index++) {
    const { up, down } = await single(namespace);
    samples[agent].ready.push(lengthOf(up));
    samples[agent].gone.push(lengthOf(down));
    console.error(`${agent}: Ready after ${lengthOf(up).toFixed(0)} ms, gone after ${lengthOf(down).toFixed(0)} ms`);
  }
}

async function measureCrowd(agent: AgentProgram, idle: boolean): Promise<void> {
  const namespace = namespaceOf[agent];
  await cluster.use(agent);
  await single(namespace);
  const names = Array.from({ length: idle ? sizes.crowd : sizes.atOnce }, () => `bench-${made++}`);
  const create = (some: readonly string[]): Promise<readonly Lapse[]> =>
    Promise.all(some.map((name) => cluster.create(namespace, name)));
  const first = await create(names.slice(0, sizes.atOnce));
  const [began, ended] = [first.map(({ sentAt }) => sentAt), first.map(({ seenAt }) => seenAt)];
  const tookMs = Math.max(...ended) - Math.min(...began);
  samples[agent].atOnce.push(tookMs);
  loads.push(loadavg()[0] ?? Number.NaN);
  console.error(`${agent}: ${sizes.atOnce} pods Ready after ${tookMs.toFixed(0)} ms`);
  await create(names.slice(sizes.atOnce));
  if (idle) await measureIdle(agent);
  await Promise.all(names.map((name) => cluster.delete(namespace, name)));
}

async function measureIdle(agent: AgentProgram): Promise<void> {
  await clock.sleep(sizes.settleMs);
  const before = usage(cluster.agentPid);
  await clock.sleep(sizes.idleSeconds * 1_000);
  const after = usage(cluster.agentPid);
  results[agent].d = after.rssMb;
  results[agent].e = ((after.cpuSeconds - before.cpuSeconds) / sizes.idleSeconds) * 100;
  loads.push(loadavg()[0] ?? Number.NaN);
  console.error(`${agent}: ${results[agent].d.toFixed(1)} MB, ${results[agent].e.toFixed(2)} % of a core`);
}

interface Walks {
  readonly up: readonly Step[];
  readonly down: readonly Step[];
}

/** Pods of an agent that tells in its log what it does; that costs time, so they are none of those measured. */
async function walkPods(): Promise<Walks> {
  const namespace = namespaceOf.tubelet;
  await cluster.use('tubelet', ['--v=6', '--logging-format=json']);
  await single(namespace);
  const pods: Awaited<ReturnType<typeof single>>[] = [];
  for (let index = 0; index < sizes.walks; index++) pods.push(await single(namespace));
  mkdirSync('bench/results', { recursive: true });
  writeFileSync(walkLog, cluster.log);
  const log = parseLog(cluster.log);
  return {
    up: medianSteps(pods.map(({ name, up }) => stepsOf(log, { namespace, name }, up, startOfPod))),
    down: medianSteps(pods.map(({ name, down }) => stepsOf(log, { namespace, name }, down, endOfPod))),
  };
}

function report(walks: Walks | undefined): void {
  const load = { median: median(loads), most: Math.max(...loads) };
  record('pods', { singles, sizes, results, samples, walks, load });
  console.log(`tubelet and the Go kubelet on one containerd; load ${load.median.toFixed(1)} on ${cpus().length} cores`);
  console.log(`  ${singles} single pods each; ${sizes.atOnce} at once; ${sizes.crowd} for memory and CPU`);
  for (const name of Object.keys(measures) as Measure[]) {
    if (!wants(name)) continue;
    const { what, unit, aim } = measures[name];
    const [ours, theirs] = [results.tubelet[name] ?? Number.NaN, results.kubelet[name] ?? Number.NaN];
    const ratio = ratioOf(name);
    const verdict = ratio <= aim ? '' : '  MISSED';
    console.log(
      `  ${name}  ${what.padEnd(36)} ${ours.toFixed(1)} ÷ ${theirs.toFixed(1)} ${unit} = ${ratio.toFixed(2)} (aim: at most ${aim})${verdict}`,
    );
  }
  if (walks === undefined) return;
  printSteps('where the time to Ready goes, median of each step, with a talkative log', walks.up);
  printSteps('where the time to the end goes', walks.down);
}

function printSteps(title: string, steps: readonly Step[]): void {
  console.log(title);
  for (const { what, ms } of steps) console.log(`  ${ms.toFixed(1).padStart(7)} ms  ${what}`);
}

function ratioOf(name: Measure): number {
  return (results.tubelet[name] ?? Number.NaN) / (results.kubelet[name] ?? Number.NaN);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function lengthOf({ sentAt, seenAt }: Lapse): number {
  return seenAt - sentAt;
}
