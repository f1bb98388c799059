// How long it takes from a manifest's rename into the folder to the container's process running, less the time spent
// inside CRI calls: the agent's own share. Twenty pods, one after another, on a real private containerd.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, readLog, record, startBenchNode, until, type LogLine } from './support.ts';

const pods = 20;
const limits = { ownMs: 100, afterEventMs: 30 };

const node = await startBenchNode({ verbosity: 6 });
const starts: { readonly name: string; readonly renamedAt: number }[] = [];
try {
  for (let index = 0; index < pods; index++) {
    const name = `bench-${index}`;
    const staged = join(node.staging, `${name}.yaml`);
    writeFileSync(staged, manifest(name));
    // Let what the last pod set off come to rest.
    await new Promise((resolve) => void setTimeout(resolve, 300));
    const renamedAt = performance.timeOrigin + performance.now();
    renameSync(staged, join(node.manifests, `${name}.yaml`));
    starts.push({ name, renamedAt });
    await until(async () => (await (await fetch(node.podsUrl)).text()).includes(`"running"`) && isRunning(name));
    rmSync(join(node.manifests, `${name}.yaml`));
    await until(async () => !(await (await fetch(node.podsUrl)).text()).includes(`"${name}`));
  }
  const log = readLog(node.logFile);
  const results = starts.map((start) => measure(log, start));
  const result = {
    pods,
    totalMs: median(results.map(({ total }) => total)),
    criMs: median(results.map(({ cri }) => cri)),
    ownMs: median(results.map(({ own }) => own)),
    toEventMs: median(results.map(({ toEvent }) => toEvent)),
    ownAfterEventMs: median(results.map(({ ownAfterEvent }) => ownAfterEvent)),
    limits,
  };
  record('pod-start', result);
  console.log(`manifest renamed → process running, median of ${pods} pods`);
  console.log(
    `  total            ${result.totalMs.toFixed(1)} ms, of which inside CRI calls ${result.criMs.toFixed(1)} ms`,
  );
  console.log(`  own share        ${result.ownMs.toFixed(1)} ms (aim: at most ${limits.ownMs})`);
  console.log(`  until the event  ${result.toEventMs.toFixed(1)} ms`);
  console.log(`  own after event  ${result.ownAfterEventMs.toFixed(1)} ms (aim: at most ${limits.afterEventMs})`);
} finally {
  await node.destroy();
}

function manifest(name: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name,
          image: node.runtime.images.busybox,
          imagePullPolicy: 'IfNotPresent',
          command: ['/bin/sh', '-c', 'trap "exit 0" TERM; sleep 1000 & wait'],
        },
      ],
    },
  });
}

async function isRunning(name: string): Promise<boolean> {
  interface Pods {
    readonly items: readonly {
      readonly metadata: { readonly name: string };
      readonly status: { readonly phase: string };
    }[];
  }
  const { items } = (await (await fetch(node.podsUrl)).json()) as Pods;
  return items.some(({ metadata, status }) => metadata.name.startsWith(`${name}-`) && status.phase === 'Running');
}

interface Measured {
  readonly total: number;
  readonly cri: number;
  readonly own: number;
  readonly toEvent: number;
  readonly ownAfterEvent: number;
}

function measure(log: readonly LogLine[], { name, renamedAt }: { name: string; renamedAt: number }): Measured {
  const after = log.filter(({ ts }) => ts >= renamedAt - 1);
  const started = after.find(({ msg, containerName }) => msg === 'Container started' && containerName === name);
  const event = after.find(({ msg }) => msg === 'Something changed at the static pod path');
  if (started === undefined || event === undefined) throw new Error(`the log does not tell about ${name}`);
  const end = started.ts;
  const inside = callIntervals(after.filter(({ ts }) => ts <= end));
  const cri = covered(inside, renamedAt, end);
  const toEvent = Math.max(0, event.ts - renamedAt);
  const total = end - renamedAt;
  return { total, cri, own: total - cri, toEvent, ownAfterEvent: end - event.ts - covered(inside, event.ts, end) };
}

type Interval = readonly [from: number, to: number];

/** Each finished call tells how long it took. */
function callIntervals(lines: readonly LogLine[]): readonly Interval[] {
  return lines
    .filter(({ msg }) => msg === 'Runtime call done')
    .map(({ ts, seconds }): Interval => [ts - Number(seconds) * 1_000, ts]);
}

/** Milliseconds between `from` and `to` in which at least one call was under way. */
function covered(intervals: readonly Interval[], from: number, to: number): number {
  let sum = 0;
  let at = from;
  for (const [begin, end] of intervals.toSorted(([a], [b]) => a - b)) {
    const [start, stop] = [Math.max(begin, at), Math.min(end, to)];
    if (stop <= start) continue;
    sum += stop - start;
    at = stop;
  }
  return sum;
}
