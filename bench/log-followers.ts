// Two hundred clients follow logs at a time, over TLS through the agent's own port: whether every line comes once and in its
// order although the logs are rotated meanwhile, what memory the agent takes for it, and how long its event loop stands still.
// One agent without an API server on a real private containerd; everybody may ask, but only from this machine.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, request, type RequestOptions } from 'node:https';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Pod } from '../src/gen/kubernetes/types.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { beatsNowMs, lateBeats, latenessOf, latenessText, MachineWatch, type Lateness } from './support-late-beats.ts';
import { LineCheck } from './support-line-check.ts';
import { usage } from './support-usage.ts';
import { freePort, median, readLog, record, startBenchNode, until, type BenchNode } from './support.ts';

const { values: options } = parseArgs({
  options: {
    followers: { type: 'string', default: '200' },
    pods: { type: 'string', default: '4' },
    /** Lines of each pod. */
    lines: { type: 'string', default: '20000' },
  },
});
const followers = Number(options.followers);
const pods = Number(options.pods);
const lines = Number(options.lines);

const aims = { pauseMs: 50, growthMb: 100 };
/** What is warming up is over by then. */
const warmUpMs = 30_000;
const idleMs = 30_000;
/** Beats are written down once a second. */
const writtenMs = 2_000;
/** A portion every tenth of a second. */
const portion = 40;
const maxLogSize = '300Ki';
const calmMs = 5_000;
const pollMs = 1_000;
const patienceMs = 600_000;

const clock = systemClock();
const port = await freePort();
const node = await startBenchNode({
  verbosity: 4,
  watchLoop: true,
  config: {
    port,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    containerLogMaxSize: maxLogSize,
    containerLogMonitorInterval: '3s',
  },
});
const pid = node.agent.pid ?? 0;
const secure: RequestOptions = { rejectUnauthorized: false, agent: new Agent({ keepAlive: false }) };
const signalFolder = join(node.staging, 'signal');
const machine = new MachineWatch(node.staging);

interface Result {
  /** How many followers got every line once and in its order. */
  readonly whole: number;
  readonly faults: readonly string[];
  readonly megabytes: number;
  readonly rotations: number;
  readonly rssMb: Readonly<Record<'before' | 'connected' | 'most' | 'after', number>>;
  readonly pauses: Readonly<Record<'idle' | 'connecting' | 'following', Lateness>>;
  readonly cpuSeconds: number;
  readonly seconds: number;
  readonly load: number;
}

try {
  const names = await startWriters(node);
  // Whatever starting pods and the first answers cost is not the followers'.
  await follow(names[0] ?? '', new LineCheck(0), '?');
  await clock.sleep(warmUpMs);
  const moments = [beatsNowMs()];
  await clock.sleep(idleMs);
  const before = usage(pid);
  moments.push(beatsNowMs());
  const checks = Array.from({ length: followers }, () => new LineCheck(lines));
  const ends = Promise.all(checks.map((check, index) => follow(names[index % names.length] ?? '', check)));
  await until(async () => checks.every(({ connected }) => connected), patienceMs);
  moments.push(beatsNowMs());
  await clock.sleep(calmMs);
  const connected = usage(pid);
  writeFileSync(join(signalFolder, 'go'), '');
  const beganMs = performance.now();
  const { mostRssMb, load } = await watch(ends);
  const seconds = (performance.now() - beganMs) / 1_000;
  const cpuSeconds = usage(pid).cpuSeconds - connected.cpuSeconds;
  moments.push(beatsNowMs());
  await clock.sleep(Math.max(calmMs, writtenMs));
  const after = usage(pid);
  const [beats, stalls] = [lateBeats(node), machine.stalls()];
  const [idle, connecting, following] = [0, 1, 2].map((phase) =>
    latenessOf(beats, stalls, [moments[phase] ?? Number.NaN, moments[phase + 1] ?? Number.NaN]),
  );
  if (!idle || !connecting || !following) throw new Error('a phase is missing');
  report({
    whole: checks.filter(({ isWhole }) => isWhole).length,
    faults: checks.flatMap(({ fault }) => fault ?? []).slice(0, 10),
    megabytes: checks.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6,
    rotations: rotations(),
    rssMb: { before: before.rssMb, connected: connected.rssMb, most: mostRssMb, after: after.rssMb },
    pauses: { idle, connecting, following },
    cpuSeconds,
    seconds,
    load,
  });
} finally {
  machine.close();
  await node.destroy();
}

async function startWriters({ manifests, staging, runtime, podsUrl }: BenchNode): Promise<readonly string[]> {
  mkdirSync(signalFolder);
  const names = Array.from({ length: pods }, (_, index) => `writer-${index}`);
  for (const name of names) {
    writeFileSync(join(staging, name), JSON.stringify(writer(name, runtime.images.busybox)));
    renameSync(join(staging, name), join(manifests, `${name}.json`));
  }
  let found: readonly Pod[] = [];
  await until(async () => {
    const { items } = (await (await fetch(podsUrl)).json()) as { readonly items: readonly Pod[] };
    found = items.filter(({ status }) => status?.phase === 'Running');
    return found.length === pods;
  });
  return found.map(({ metadata }) => metadata?.name ?? '');
}

/** Waits for a file, then writes numbered lines in portions, and ends. */
function writer(name: string, image: string): object {
  const script = `
    until [ -e /signal/go ]; do usleep 100000; done
    awk 'BEGIN {
      for (n = 0; n < ${lines}; n++) {
        printf "%08d abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqr\\n", n
        if (n % ${portion} == ${portion - 1}) { fflush(); system("usleep 100000") }
      }
    }'`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'main',
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', script],
          volumeMounts: [{ name: 'signal', mountPath: '/signal' }],
        },
      ],
      volumes: [{ name: 'signal', hostPath: { path: signalFolder } }],
    },
  };
}

/** Until the answer ends, which it does when the container has. */
function follow(pod: string, check: LineCheck, query = '?follow=true'): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = `/containerLogs/default/${pod}/main${query}`;
    const outgoing = request(`https://127.0.0.1:${port}${path}`, secure, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
      check.connected = true;
      response.on('data', (chunk: Buffer) => check.take(chunk));
      response.on('error', reject).on('end', resolve);
    });
    outgoing.on('error', reject).end();
  });
}

interface Watched {
  readonly mostRssMb: number;
  readonly load: number;
}

/** The agent's memory until it is over. */
async function watch(over: Promise<unknown>): Promise<Watched> {
  const state = { isOver: false };
  const end = over.finally(() => (state.isOver = true));
  const [rss, loads]: [number[], number[]] = [[], []];
  while (!state.isOver) {
    await Promise.race([clock.sleep(pollMs), end]);
    rss.push(usage(pid).rssMb);
    loads.push(loadavg()[0] ?? Number.NaN);
  }
  await end;
  return { mostRssMb: Math.max(...rss), load: median(loads) };
}

function rotations(): number {
  return readLog(node.logFile).filter(({ msg }) => msg === 'Container log rotated').length;
}

function report(result: Result): void {
  record('log-followers', { followers, pods, lines, maxLogSize, aims, ...result });
  const { whole, faults, megabytes, rotations: times, rssMb, pauses, cpuSeconds, seconds, load } = result;
  const growthMb = rssMb.most - rssMb.before;
  const missed = (isMissed: boolean): string => (isMissed ? '  MISSED' : '');
  console.log(
    `${followers} followers of ${pods} logs of ${lines} lines; load ${load.toFixed(1)} on ${cpus().length} cores`,
  );
  console.log(`  every line, once, in order: ${whole} of ${followers}${missed(whole < followers)}; ${times} rotations`);
  for (const fault of faults) console.log(`    ${fault}`);
  console.log(
    `  ${megabytes.toFixed(0)} MB in ${seconds.toFixed(1)} s, ${((cpuSeconds / seconds) * 100).toFixed(0)} % of a core, ` +
      `${((cpuSeconds * 1e6) / (followers * lines)).toFixed(2)} µs a line`,
  );
  console.log(
    `  resident memory ${rssMb.before.toFixed(0)} MB, connected ${rssMb.connected.toFixed(0)}, at most ` +
      `${rssMb.most.toFixed(0)}, after ${rssMb.after.toFixed(0)} (aim: at most ${aims.growthMb} more)${missed(growthMb > aims.growthMb)}`,
  );
  const { idle, connecting, following } = pauses;
  const [longestMs, ownMs] = [
    Math.max(connecting.longestMs, following.longestMs),
    Math.max(connecting.longestOwnMs, following.longestOwnMs),
  ];
  console.log(
    `  longest pause ${idle.longestMs.toFixed(0)} ms idle, ${connecting.longestMs.toFixed(0)} ms while all connect, ` +
      `${following.longestMs.toFixed(0)} ms then (aim: at most ${aims.pauseMs})${missed(longestMs > aims.pauseMs)}`,
  );
  console.log(
    `  the same less what the machine stood still: ${idle.longestOwnMs.toFixed(0)}, ${connecting.longestOwnMs.toFixed(0)}, ` +
      `${following.longestOwnMs.toFixed(0)} ms${missed(ownMs > aims.pauseMs)}`,
  );
  console.log(`  while all connect: ${latenessText(connecting)}`);
  console.log(`  then: ${latenessText(following)}`);
}
