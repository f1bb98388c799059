// What pods cost that idle: timers, resident memory and CPU of an agent that is the real one but for its runtime, which
// lives in memory in this process. Each number of pods gets an agent of its own, in a process of its own.
import { systemClock } from '../src/base/system-clock.ts';
import { beAgent, type Sight } from './support-idle-agent.ts';
import { IdleNode } from './support-idle-node.ts';
import { record } from './support.ts';

const crowds = [
  { pods: 0, probes: 0 },
  { pods: 100, probes: 0 },
  { pods: 500, probes: 0 },
  { pods: 100, probes: 1 },
];
/** Relists and probes find their pace. */
const settleMs = 15_000;
/** Longer than most pods wait for their regular look. */
const idleSeconds = 60;
const limits = { kilobytesPerPod: 150, timersPerPodWithoutProbes: 0 };
const clock = systemClock();

if (process.send === undefined) await measureAll();
else await beAgent(process.argv[2] ?? '');

async function measureAll(): Promise<void> {
  const nodes: IdleNode[] = [];
  try {
    for (const crowd of crowds) {
      const node = await IdleNode.start();
      nodes.push(node);
      await node.warmUp();
      await node.populate(crowd);
    }
    await clock.sleep(settleMs);
    report(await Promise.all(nodes.map(idle)));
  } finally {
    for (const node of nodes) await node.destroy();
  }
}

function report([without, ...others]: readonly Idle[]): void {
  if (without === undefined) return;
  const results = [without, ...others].map((seen) => comparison(without, seen));
  // The first pods take what is taken once, such as room for garbage; what comes on top is theirs alone.
  const [, hundred, most] = results;
  const beyond = hundred && most && ((most.rssMb - hundred.rssMb) * 1_024) / (most.pods - hundred.pods);
  record('idle-pods', { idleSeconds, results, rssKbPerPodBeyondHundred: beyond, limits });
  console.log(`idle pods; memory after a collection, over that of no pods; CPU over ${idleSeconds} s`);
  for (const { pods, ...result } of results) {
    console.log(`  ${pods} pods`);
    const each = `${result.rssKbPerPod?.toFixed(0)} kB a pod, of that ${result.heapKbPerPod?.toFixed(0)} kB heap`;
    console.log(`    resident memory  ${result.rssMb.toFixed(1)} MB${pods > 0 ? `, ${each}` : ''}`);
    console.log(`    timers           ${result.clockTimers}, with those of libraries ${result.nodeTimers}`);
    console.log(`    CPU              ${result.cpuPercent.toFixed(2)} % of a core`);
  }
  console.log(`  each pod beyond the first hundred: ${beyond?.toFixed(0)} kB`);
  console.log(
    `  aims: at most ${limits.kilobytesPerPod} kB a pod, no timers but for probes; the last pods have one each`,
  );
}

interface Idle extends Sight {
  readonly cpuPercent: number;
}

async function idle(node: IdleNode): Promise<Idle> {
  const { cpuMs: before } = await node.glance();
  await clock.sleep(idleSeconds * 1_000);
  const { cpuMs: after } = await node.glance();
  return { ...(await node.look()), cpuPercent: (after - before) / idleSeconds / 10 };
}

interface Result {
  readonly pods: number;
  readonly rssMb: number;
  readonly rssKbPerPod?: number;
  readonly heapKbPerPod?: number;
  readonly clockTimers: number;
  readonly nodeTimers: number;
  readonly cpuPercent: number;
}

/** What the pods add to an agent that has none. */
function comparison(without: Idle, seen: Idle): Result {
  const { rssKb, heapKb, running, clockTimers, nodeTimers, cpuPercent } = seen;
  return {
    pods: running,
    rssMb: rssKb / 1_024,
    ...(running > 0 && {
      rssKbPerPod: (rssKb - without.rssKb) / running,
      heapKbPerPod: (heapKb - without.heapKb) / running,
    }),
    clockTimers,
    nodeTimers,
    cpuPercent,
  };
}
