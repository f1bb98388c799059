// How long it takes from a container's end to the status that tells of it: first on a runtime in memory that takes no
// time and tells of ends by events, with few and many other pods around; then on a real containerd, whose own time, from
// the kill until its CRI shows the end, is told apart.
import { join } from 'node:path';
import { renameSync, writeFileSync } from 'node:fs';
import { noCalls } from '../src/base/calls.ts';
import { Duration } from '../src/base/duration.ts';
import { silentLog } from '../src/base/log.ts';
import { systemClock } from '../src/base/system-clock.ts';
import { connectCri, type Cri } from '../src/cri/index.ts';
import { ContainerState, ListContainersRequest } from '../src/gen/cri/api.ts';
import type { ContainerStatus, Pod, PodStatus } from '../src/gen/kubernetes/types.ts';
import { aContainer, aPod } from '../src/testing/pods.ts';
import { AgentWorld } from '../test/support/agent-world.ts';
import { fakeMachine } from '../test/support/fake-platform.ts';
import { median, quantile, record, startBenchNode, until, type BenchNode } from './support.ts';

const crowds = [1, 50, 200];
const exits = 300;
const warmUps = 50;
const realPods = 20;
const limits = { medianMs: 20 };
const clock = systemClock();

const inMemory = [];
for (const others of crowds) inMemory.push(await measureInMemory(others));
console.log(`container ends → status is ready to send, ${exits} ends, runtime without latency, with events`);
for (const { others, medianMs, p99Ms, cpuMs } of inMemory) {
  const wall = `median ${medianMs.toFixed(2)} ms, 99 of 100 within ${p99Ms.toFixed(2)} ms`;
  console.log(`  ${String(others).padStart(3)} other pods: ${wall}; of CPU, median ${cpuMs.toFixed(2)} ms`);
}
console.log(`  aim: median at most ${limits.medianMs} ms`);
const real = await measureReal();
console.log(`container is killed → status is served, ${realPods} ends, containerd`);
console.log(`  total            median ${real.totalMs.toFixed(1)} ms`);
console.log(`  until CRI shows  median ${real.shownMs.toFixed(1)} ms`);
console.log(`  from then on     median ${real.ownMs.toFixed(1)} ms, both asked every few milliseconds`);
record('exit-status', { exits, inMemory, real: { pods: realPods, ...real }, limits });

/** Whether the status tells that this instance has ended. */
function tellsEnd(status: PodStatus | undefined, id: string): boolean {
  const ends = (status?.containerStatuses ?? []).flatMap(({ state, lastState }: ContainerStatus) => [state, lastState]);
  return ends.some((state) => state?.terminated?.containerID?.endsWith(`://${id}`) === true);
}

interface InMemory {
  readonly others: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly cpuMs: number;
}

async function measureInMemory(others: number): Promise<InMemory> {
  let onStatus: (uid: string, status: PodStatus | undefined) => void = () => {};
  const world = new AgentWorld({
    machine: fakeMachine({ runtime: { clock } }),
    flags: ['--feature-gates=KubeletCrashLoopBackOffMax=true'],
    config: {
      maxPods: others + 1,
      // It ends so often that it would have to wait between its lives.
      crashLoopBackOff: { maxContainerRestartPeriod: Duration.parse('1ms') },
    },
    overrides: () => ({ clock }),
  });
  const { cri } = world;
  await world.start();
  world.views.signals.statusChanged.listen((uid) => onStatus(uid, world.status(uid)));
  const pods = Array.from({ length: others }, (_, index) => aPod({ uid: `uid-${index}`, name: `pod-${index}` }));
  const victim = aPod({ uid: 'victim', name: 'victim', spec: { containers: [aContainer('victim')] } });
  await world.manifests(victim, ...pods);
  await until(async () => [victim, ...pods].every(({ uid }) => world.isReady(uid)));
  // Long enough for the agent to trust the stream of events.
  await clock.sleep(2_000);

  const took: number[] = [];
  const cpu: number[] = [];
  // The first rounds warm the compiler up and are thrown away.
  for (let round = -warmUps; round < exits; round++) {
    const { id } = cri.containerNamed('victim') ?? { id: '' };
    const told = new Promise<Moment>((resolve) => {
      onStatus = (uid, status) => {
        if (uid === 'victim' && tellsEnd(status, id)) resolve(moment());
      };
    });
    const began = moment();
    cri.killContainer(id, { code: 1 });
    const ended = await told;
    if (round >= 0) {
      took.push(ended.wallMs - began.wallMs);
      cpu.push(ended.cpuMs - began.cpuMs);
    }
    await until(async () => world.isReady('victim') && cri.containerNamed('victim')?.id !== id);
  }
  await world.stop();
  return { others, medianMs: median(took), p99Ms: quantile(took, 0.99), cpuMs: median(cpu) };
}

interface Moment {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** On both clocks: other work on the machine makes the wall's run ahead. */
function moment(): Moment {
  const { user, system } = process.cpuUsage();
  return { wallMs: clock.monotonic(), cpuMs: (user + system) / 1_000 };
}

async function measureReal(): Promise<{ totalMs: number; shownMs: number; ownMs: number }> {
  const node = await startBenchNode({ verbosity: 2 });
  const cri = connectCri({
    calls: noCalls,
    endpoint: node.runtime.endpoint,
    clock,
    log: silentLog,
    timeouts: { requestMs: 60_000 },
  });
  try {
    const names = Array.from({ length: realPods }, (_, index) => `bench-${index}`);
    for (const name of names) {
      const staged = join(node.staging, `${name}.json`);
      writeFileSync(staged, manifest(name, node.runtime.images.busybox));
      renameSync(staged, join(node.manifests, `${name}.json`));
    }
    await until(async () => {
      const statuses = await Promise.all(names.map((name) => podStatus(node, name)));
      return statuses.every((status) => status?.phase === 'Running');
    });
    await clock.sleep(2_000);
    const results = [];
    for (const name of names) {
      results.push(await killOne(node, cri, name));
      // Let what it set off come to rest.
      await clock.sleep(500);
    }
    return {
      totalMs: median(results.map(({ totalMs }) => totalMs)),
      shownMs: median(results.map(({ shownMs }) => shownMs)),
      ownMs: median(results.map(({ totalMs, shownMs }) => Math.max(0, totalMs - shownMs))),
    };
  } finally {
    cri.close();
    await node.destroy();
  }
}

/** Kills the container's process from outside, and asks runtime and agent side by side when they tell of it. */
async function killOne(node: BenchNode, cri: Cri, name: string): Promise<{ totalMs: number; shownMs: number }> {
  const { containers } = await cri.listContainers(ListContainersRequest.fromPartial({}));
  const { id = '' } = containers.find(({ metadata }) => metadata?.name === name) ?? {};
  const { info } = await cri.containerStatus({ containerId: id, verbose: true });
  const { pid } = JSON.parse(info['info'] ?? '{}') as { readonly pid: number };
  const began = clock.monotonic();
  process.kill(pid, 'SIGKILL');
  const since = async (isSo: () => Promise<boolean>): Promise<number> => {
    while (!(await isSo())) await clock.sleep(3);
    return clock.monotonic() - began;
  };
  const [shownMs, totalMs] = await Promise.all([
    since(async () => {
      const { status } = await cri.containerStatus({ containerId: id, verbose: false });
      return status?.state === ContainerState.CONTAINER_EXITED;
    }),
    since(async () => tellsEnd(await podStatus(node, name), id)),
  ]);
  return { totalMs, shownMs };
}

async function podStatus(node: BenchNode, name: string): Promise<PodStatus | undefined> {
  const { items } = (await (await fetch(node.podsUrl)).json()) as { readonly items: readonly Pod[] };
  return items.find(({ spec }) => spec?.containers[0]?.name === name)?.status;
}

function manifest(name: string, image: string): string {
  const command = ['/bin/sh', '-c', 'trap "exit 0" TERM; sleep 1000 & wait'];
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name, image, imagePullPolicy: 'IfNotPresent', command }],
    },
  });
}
