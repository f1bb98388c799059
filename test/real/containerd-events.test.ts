import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { noCalls } from '../../src/base/calls.ts';
import { Heartbeats } from '../../src/base/heartbeats.ts';
import { podUid, type PodUid } from '../../src/base/ids.ts';
import { silentLog } from '../../src/base/log.ts';
import { containerdEvents, type ContainerdEvent } from '../../src/containerd/index.ts';
import { connectCri, type Cri } from '../../src/cri/index.ts';
import { ContainerConfig, ContainerState, PodSandboxConfig } from '../../src/gen/cri/api.ts';
import { containerLabels, sandboxLabels } from '../../src/model/labels.ts';
import { containerdEventSource, ObservedPods, Pleg } from '../../src/pods/pleg/index.ts';
import { Registry } from '../../src/telemetry/registry.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { startPrivateRuntime, type PrivateRuntime } from '../../src/testing/private-runtime.ts';
import { realFolder, type RealFolder } from '../support/real-folders.ts';
import { clock, until } from '../support/real-wait.ts';

let folder: RealFolder;
let runtime: PrivateRuntime;
let cri: Cri;

before(async () => {
  folder = await realFolder('events');
  runtime = await startPrivateRuntime({ root: folder.root, log: silentLog, clock });
  cri = connectCri({
    calls: noCalls,
    endpoint: runtime.endpoint,
    clock,
    log: silentLog,
    timeouts: { requestMs: 120_000 },
  });
});
after(async () => {
  cri?.close();
  await folder?.remove();
});

const source = () => containerdEvents({ endpoint: runtime.endpoint, clock, log: silentLog });

interface RealPod {
  readonly uid: PodUid;
  readonly sandbox: string;
  readonly config: PodSandboxConfig;
}

async function runPod(name: string): Promise<RealPod> {
  const pod = { name, namespace: 'default', uid: `uid-${name}` };
  const config = PodSandboxConfig.fromPartial({
    metadata: { ...pod, attempt: 0 },
    labels: sandboxLabels(pod),
    logDirectory: join(folder.path, name),
    linux: { cgroupParent: runtime.cgroupRoot },
  });
  const { podSandboxId } = await cri.runPodSandbox({ config, runtimeHandler: '' });
  return { uid: podUid(pod.uid), sandbox: podSandboxId, config };
}

async function start(pod: RealPod, name: string, command: string): Promise<string> {
  const config = ContainerConfig.fromPartial({
    metadata: { name },
    labels: containerLabels({ name: pod.config.metadata?.name ?? '', namespace: 'default', uid: pod.uid }, name),
    image: { image: runtime.images.busybox },
    command: ['sh', '-c', command],
    logPath: `${name}.log`,
  });
  const { containerId } = await cri.createContainer({ podSandboxId: pod.sandbox, config, sandboxConfig: pod.config });
  await cri.startContainer({ containerId });
  return containerId;
}

async function remove(pod: RealPod): Promise<void> {
  await cri.stopPodSandbox({ podSandboxId: pod.sandbox });
  await cri.removePodSandbox({ podSandboxId: pod.sandbox });
}

/** Collects events until stopped. Returns when containerd has sent an event, so that nothing after it is missed. */
async function listen() {
  const stop = new AbortController();
  const events: ContainerdEvent[] = [];
  const ended = (async () => {
    for await (const event of source().events(stop.signal)) events.push(event);
  })();
  // Only a second event proves that the subscription stands: pods are started until one of them is seen.
  const pods: RealPod[] = [];
  while (events.length === 0) {
    pods.push(await runPod(`warm-up-${pods.length}`));
    await clock.sleep(20);
  }
  for (const pod of pods) await remove(pod);
  return {
    of: (id: string) => events.filter(({ containerId }) => containerId === id),
    async stop() {
      stop.abort();
      await ended;
    },
  };
}

describe('the events of containerd', () => {
  test('report the life of a container and of its sandbox, and nothing of commands run in it', async () => {
    const listener = await listen();
    const pod = await runPod('life');
    const began = clock.now();
    const id = await start(pod, 'main', 'sleep 0.5; exit 3');
    assert.equal((await cri.execSync({ containerId: id, cmd: ['true'], timeout: 10n })).exitCode, 0);
    await until('the exit is reported', () => listener.of(id).some(({ kind }) => kind === 'exited'));
    // containerd reports the exit before its shim ends; a sandbox stopped meanwhile fails, and the agent would try again.
    await until('CRI shows the exit', async () => {
      const { status } = await cri.containerStatus({ containerId: id, verbose: false });
      return status?.state === ContainerState.CONTAINER_EXITED;
    });
    await remove(pod);
    const gone = (of: string) => () => listener.of(of).some(({ kind }) => kind === 'removed');
    await until('the removals are reported', () => gone(id)() && gone(pod.sandbox)());
    for (const of of [id, pod.sandbox]) {
      // An exit is reported twice: when it happens, and when it is cleaned up.
      const kinds = listener.of(of).map(({ kind }) => kind);
      assert.deepEqual(kinds, ['created', 'started', 'exited', 'exited', 'removed']);
    }
    for (const { at } of listener.of(id)) assert.ok(at >= began - 1_000 && at <= clock.now() + 1_000, String(at));
    await listener.stop();
  });

  test('end with containerd, and are there again with the next one', async () => {
    const listener = source().events(new AbortController().signal);
    const broken = assert.rejects(
      async () => {
        for await (const event of listener) assert.notEqual(event.containerId, '');
      },
      { kind: 'unavailable' },
    );
    await (await listen()).stop();
    await runtime.stop();
    await broken;
    runtime = await startPrivateRuntime({ root: folder.root, log: silentLog, clock });
    await until('containerd answers', async () => (await cri.version({ version: '' })).runtimeName !== '');
    await (await listen()).stop();
  });
});

describe('the pleg on containerd', () => {
  test('notices exits through them, and the relists of a quiet node become rare', async () => {
    const pod = await runPod('noticed');
    const observed = new ObservedPods({ runtime: cri });
    const inspections: Promise<unknown>[] = [];
    const seenAt = new Map<string, number>();
    const inspect = async (uid: PodUid): Promise<void> => {
      const { containers } = await observed.newerThan(uid, 0, new AbortController().signal);
      for (const { id, state, finishedAt } of containers) {
        if (state === 'exited' && !seenAt.has(id)) seenAt.set(id, clock.now() - finishedAt);
      }
    };
    const onChange = (uid: PodUid): void => void inspections.push(inspect(uid));
    const common = { clock, random: seededRandom(1), log: silentLog, runtime: cri, observed, onChange };
    const pleg = new Pleg({
      podsOnDisk: async () => [],
      metrics: new Registry(),
      heartbeats: new Heartbeats(),
      ...common,
      relistPeriodMs: 1_000,
      eventSources: [containerdEventSource(source())],
    });
    await pleg.start();
    try {
      await until('the stream is healthy', () => pleg.streamHealthy());
      const delays: number[] = [];
      for (let n = 0; n < 5; n++) {
        const id = await start(pod, `short-${n}`, 'sleep 0.4');
        // As an agent would after its own action.
        await observed.inspect(pod.uid, new AbortController().signal);
        delays.push(await until(`the exit of ${n} is noticed`, () => seenAt.get(id)));
      }
      process.stdout.write(`exit → seen by the agent, ms: ${delays.join(' ')}\n`);
      // A relist alone would take half a second on the average, and no less with a longer period.
      assert.ok(Math.min(...delays) < 2_000, delays.join(' '));
      assert.equal(pleg.streamHealthy(), true, 'no relist found what the stream had not reported');
      const before = pleg.lastRelist();
      const first = await until('a relist', () => pleg.lastRelist() !== before && pleg.lastRelist());
      const second = await until('the next one', () => pleg.lastRelist() !== first && pleg.lastRelist());
      assert.ok(second - first > 1_900, `relists are ${Math.round(second - first)} ms apart`);
    } finally {
      await pleg.stop();
      await Promise.all(inspections);
      await remove(pod);
    }
  });
});
