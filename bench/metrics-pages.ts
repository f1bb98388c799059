// npm run bench metrics-pages: CPU of making the pages /metrics/cadvisor and /metrics/resource from figures that have been
// read, for a node of 100 pods with two containers each. Reading the figures is not in it.
import { cadvisorPage, resourcePage } from '../src/stats/pages/index.ts';
import { someMachine, usageSnapshot } from '../src/testing/usage-snapshots.ts';
import { median, quantile, record } from './support.ts';

const rounds = 60;
const warmUp = 20;
const limitMs = 10;
const plan = { version: 2, pods: 100, containersPerPod: 2 } as const;
const snapshot = usageSnapshot(plan);

/** CPU time of this process, other threads' included: garbage collection is part of the price. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** As a server does it: one chunk after the other. */
function send(page: Iterable<string>): number {
  let bytes = 0;
  for (const chunk of page) bytes += Buffer.byteLength(chunk);
  return bytes;
}

const pages = {
  cadvisor: () => send(cadvisorPage(snapshot, someMachine)),
  resource: () => send([resourcePage(snapshot)]),
};
const result = Object.fromEntries(
  Object.entries(pages).map(([name, make]) => {
    let bytes = 0;
    const early = Array.from({ length: warmUp }, () => cpuMs(() => void make()));
    const times = Array.from({ length: rounds }, () => cpuMs(() => void (bytes = make())));
    return [
      name,
      {
        bytes,
        firstMs: early[0] ?? Number.NaN,
        leastMs: Math.min(...times),
        medianMs: median(times),
        p90Ms: quantile(times, 0.9),
      },
    ];
  }),
);
record('metrics-pages', { plan, rounds, limitMs, ...result });
for (const [name, { bytes, firstMs, leastMs, medianMs }] of Object.entries(result)) {
  const size = (bytes / 1e6).toFixed(2);
  // The first is before anything is compiled; the least is what other work on the machine has disturbed least.
  const [usual, least, first] = [medianMs, leastMs, firstMs].map((ms) => ms.toFixed(1));
  console.log(`/metrics/${name}  ${usual} ms of CPU, at least ${least} ms, the first time ${first} ms; ${size} MB`);
}
console.log(
  `aim: at most ${limitMs} ms for each, ${plan.pods} pods of ${plan.containersPerPod} containers and a sandbox`,
);
