// What the agent itself costs with many pods: on a runtime whose verbs take no time, how much CPU until all pods run, how
// that grows with their number, and how much memory an idle pod takes.
import { aPod } from '../src/testing/pods.ts';
import { AgentWorld } from '../test/support/agent-world.ts';
import { record } from './support.ts';

const sizes = [100, 500, 1_000];
const limits = { cpuSecondsFor500: 5, kilobytesPerIdlePod: 150 };

interface Result {
  readonly pods: number;
  readonly cpuSeconds: number;
  readonly cpuMsPerPod: number;
  readonly kilobytesPerPod: number;
}

const results: Result[] = [];
// The first round warms the compiler up and is thrown away.
for (const pods of [50, ...sizes]) {
  const result = await measure(pods);
  if (pods !== 50) results.push(result);
}
record('many-pods', { results, limits });
console.log('pods created at once on a runtime without latency');
for (const { pods, cpuSeconds, cpuMsPerPod, kilobytesPerPod } of results) {
  console.log(
    `  ${String(pods).padStart(4)} pods: ${cpuSeconds.toFixed(2)} s CPU, ${cpuMsPerPod.toFixed(2)} ms a pod, ${kilobytesPerPod.toFixed(0)} kB a pod`,
  );
}
console.log(
  `aims: 500 pods within ${limits.cpuSecondsFor500} s of CPU, growth linear, at most ${limits.kilobytesPerIdlePod} kB an idle pod`,
);

async function measure(count: number): Promise<Result> {
  const world = new AgentWorld({ config: { maxPods: count + 1 } });
  await world.start();
  const pods = Array.from({ length: count }, (_, index) => aPod({ uid: `uid-${index}`, name: `pod-${index}` }));
  await world.manifests();
  const heapBefore = heap();
  const before = process.cpuUsage();
  await world.manifests(...pods);
  const { user, system } = process.cpuUsage(before);
  const running = pods.filter(({ uid }) => world.isReady(uid)).length;
  if (running !== count) throw new Error(`only ${running} of ${count} pods run`);
  const kilobytes = (heap() - heapBefore) / 1024;
  await world.stop();
  const cpuSeconds = (user + system) / 1e6;
  return { pods: count, cpuSeconds, cpuMsPerPod: (cpuSeconds * 1_000) / count, kilobytesPerPod: kilobytes / count };
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
