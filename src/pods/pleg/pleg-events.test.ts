import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { Mailbox } from '../../base/mailbox.ts';
import type { PodUid } from '../../base/ids.ts';
import { Registry } from '../../telemetry/index.ts';
import { createFakeCri, type FakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod, createContainer, runContainer, runSandbox, testImage } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { containerdEventSource } from './event-sources.ts';
import { ObservedPods } from './observed-pods.ts';
import { Pleg } from './pleg.ts';
import type { LowLevelEvent } from './ports.ts';

const pod = aPod();
const { uid } = pod;
const never = new AbortController().signal;

interface World {
  readonly clock: FakeClock;
  readonly cri: FakeCri;
  readonly observed: ObservedPods;
  readonly pleg: Pleg;
  readonly log: MemoryLog;
  readonly metrics: Registry;
  readonly sandbox: string;
  readonly container: string;
  /** Which pods were reported as changed and when, in milliseconds after the world was made. */
  readonly changes: string[];
  /** containerd sends an event. */
  readonly emit: (kind: LowLevelEvent['kind'], containerId: string) => void;
  /** Calls to the runtime since the last call of this. */
  readonly calls: () => string[];
}

/** A runtime without CRI events whose containerd has some, at the maximum relist period, with one pod that was inspected. */
async function withContainerd(): Promise<World> {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  cri.events.supported = false;
  const sandbox = await runSandbox(cri, pod);
  const container = await runContainer(cri, pod, sandbox);
  const observed = new ObservedPods({ runtime: cri });
  const emitted = new Mailbox<readonly LowLevelEvent[]>((waiting, next) => [...waiting, ...next]);
  const containerd = containerdEventSource({
    async *events(signal) {
      for (;;) yield* await emitted.take(signal);
    },
  });
  const changes: string[] = [];
  let from = 0;
  const onChange = (changed: PodUid): void => void changes.push(`${changed} ${clock.monotonic() - from}`);
  const metrics = new Registry();
  const log = new MemoryLog();
  const common = { clock, random: seededRandom(1), log, metrics, runtime: cri, observed, onChange };
  const pleg = new Pleg({
    podsOnDisk: async () => [],
    heartbeats: new Heartbeats(),
    ...common,
    relistPeriodMs: 1_000,
    eventSources: [containerd],
  });
  await pleg.start();
  await observed.inspect(uid, never);
  await clock.advance(26_000);
  [changes.length, from] = [0, clock.monotonic()];
  let seen = cri.calls.length;
  return {
    clock,
    cri,
    observed,
    pleg,
    log,
    metrics,
    sandbox,
    container,
    changes,
    emit: (kind, containerId) => emitted.put([{ kind, containerId }]),
    calls() {
      const since = cri.calls.slice(seen).map(({ verb }) => verb);
      seen = cri.calls.length;
      return since;
    },
  };
}

test('an exit that CRI shows only later is reported when it does, and asked for sparingly', async () => {
  const { clock, cri, pleg, container, changes, emit, calls } = await withContainerd();
  assert.equal(pleg.streamHealthy(), true);
  emit('exited', container);
  await clock.advance(29);
  assert.deepEqual(calls(), ['containerStatus'], 'asked after 10 ms');
  cri.killContainer(container);
  emit('exited', container);
  await clock.settle();
  assert.deepEqual(calls(), ['containerStatus'], 'asked at once when containerd has cleaned up');
  assert.deepEqual(changes, ['uid-1 29']);
  await clock.advance(5_000);
  assert.deepEqual(calls(), []);
  await pleg.stop();
});

test('a second event that comes while the call is under way repeats it at once', async () => {
  const { clock, cri, pleg, container, emit, calls } = await withContainerd();
  cri.faults.delay('containerStatus', 5, { times: 1 });
  emit('exited', container);
  await clock.advance(12);
  emit('exited', container);
  await clock.advance(2);
  assert.equal(calls().length, 1);
  await clock.advance(1);
  assert.equal(calls().length, 1);
  await pleg.stop();
});

test('an exit is reported within 100 ms when CRI shows it within 50, also without a second event', async () => {
  for (const lag of [0, 9, 10, 11, 25, 49]) {
    const { clock, cri, pleg, container, changes, emit } = await withContainerd();
    emit('exited', container);
    await clock.advance(lag);
    cri.killContainer(container);
    await clock.advance(100 - lag);
    assert.equal(changes.length, 1, `shown after ${lag} ms`);
    await pleg.stop();
  }
});

test('a runtime that takes seconds to show it is asked every second at most', async () => {
  const { clock, cri, pleg, container, changes, emit, calls } = await withContainerd();
  emit('exited', container);
  await clock.advance(4_000);
  assert.deepEqual([...new Set(calls())], ['containerStatus']);
  calls();
  await clock.advance(3_000);
  assert.equal(calls().length, 3);
  cri.killContainer(container);
  await clock.advance(1_000);
  assert.equal(changes.length, 1);
  await pleg.stop();
});

test('a pod whose change it never shows is woken in the end', async () => {
  const { clock, pleg, log, container, changes, emit } = await withContainerd();
  emit('exited', container);
  await clock.advance(60_000);
  assert.equal(changes.length, 1);
  assert.ok(log.messages().includes('The runtime does not show what its events reported'));
  await clock.settle();
  assert.equal(clock.pending(), 1, 'the relist alone goes on');
  await pleg.stop();
});

test('a runtime that does not answer leaves it to the worker of the pod', async () => {
  const { clock, cri, pleg, container, changes, emit } = await withContainerd();
  cri.faults.fail('containerStatus', 'unavailable', { times: 1 });
  emit('exited', container);
  await clock.advance(10);
  assert.deepEqual(changes, ['uid-1 10']);
  await pleg.stop();
});

test('what an inspection has seen meanwhile is asked for no more', async () => {
  const { clock, cri, pleg, observed, container, changes, emit, calls } = await withContainerd();
  emit('exited', container);
  await clock.settle();
  cri.killContainer(container);
  await observed.inspect(uid, never);
  calls();
  await clock.advance(1_000);
  assert.deepEqual([calls(), changes], [[], []]);
  await pleg.stop();
});

test('the end of a sandbox is reported too', async () => {
  const { clock, cri, pleg, sandbox, changes, emit, calls } = await withContainerd();
  cri.killSandbox(sandbox);
  emit('exited', sandbox);
  await clock.advance(10);
  assert.deepEqual(calls(), ['podSandboxStatus']);
  assert.deepEqual(changes, ['uid-1 10']);
  await pleg.stop();
});

test('the removal of a container is reported when CRI shows it', async () => {
  const { clock, cri, pleg, container, changes, emit } = await withContainerd();
  emit('removed', container);
  await clock.advance(15);
  await cri.removeContainer({ containerId: container });
  await clock.advance(50);
  assert.deepEqual(changes, ['uid-1 30']);
  await pleg.stop();
});

test('an event of what the agent did itself costs no call', async () => {
  const { clock, cri, pleg, observed, sandbox, changes, emit, calls } = await withContainerd();
  const next = await createContainer(cri, pod, sandbox, 'side');
  emit('created', next);
  await cri.startContainer({ containerId: next });
  emit('started', next);
  await clock.advance(50);
  await observed.inspect(uid, never);
  calls();
  await clock.advance(5_000);
  assert.deepEqual([calls(), changes], [[], []]);
  await pleg.stop();
});

test('an exit during the inspection that first shows the container is not lost', async () => {
  const { clock, cri, pleg, observed, sandbox, changes, emit } = await withContainerd();
  const next = await runContainer(cri, pod, sandbox, 'side');
  emit('started', next);
  cri.faults.delay('listPodSandbox', 40, { times: 1 });
  const inspection = observed.inspect(uid, never);
  await clock.advance(10);
  emit('exited', next);
  await clock.advance(30);
  assert.equal((await inspection).containers.find(({ id }) => id === next)?.state, 'running');
  cri.killContainer(next);
  await clock.advance(20);
  assert.deepEqual(changes, ['uid-1 50']);
  await pleg.stop();
});

test('an unknown container brings the relist forward to a second, once', async () => {
  const { clock, cri, pleg, changes, emit, calls } = await withContainerd();
  const other = aPod({ uid: 'uid-2', name: 'other' });
  const sandbox = await runSandbox(cri, other);
  emit('started', sandbox);
  emit('started', 'a container of no pod');
  await clock.advance(999);
  calls();
  await clock.advance(1);
  assert.deepEqual(calls().toSorted(), ['listContainers', 'listPodSandbox']);
  assert.deepEqual(changes, ['uid-2 1000']);
  await clock.advance(5_000);
  assert.deepEqual(calls(), [], 'what the relist did not show is of no pod');
  assert.equal(pleg.streamHealthy(), true, 'the stream had reported it');
  await pleg.stop();
});

test('a burst wakes a pod once', async () => {
  const { clock, cri, pleg, container, sandbox, changes, emit } = await withContainerd();
  cri.killContainer(container);
  cri.killSandbox(sandbox);
  for (let n = 0; n < 50; n++) for (const id of [container, sandbox]) emit('exited', id);
  await clock.advance(10);
  assert.equal(changes.length, 1);
  await pleg.stop();
});

test('a flood of unknown containers is bounded, and what is dropped is counted', async () => {
  const { clock, pleg, metrics, emit } = await withContainerd();
  for (let n = 0; n < 1_010; n++) emit('exited', `unknown ${n}`);
  await clock.advance(1_000);
  assert.match(metrics.render(), /^kubelet_pleg_discard_events 10$/m);
  await pleg.stop();
});

test('stop ends what is being confirmed, and leaves no timer', async () => {
  const { clock, cri, pleg, container, changes, emit } = await withContainerd();
  cri.faults.hang('containerStatus');
  emit('exited', container);
  await clock.advance(10);
  await pleg.stop();
  await clock.settle();
  assert.deepEqual([clock.pending(), changes], [0, []]);
});

test('with CRI events an exit is reported at once, without a call', async () => {
  const world = await withContainerd();
  world.cri.events.supported = true;
  await world.pleg.stop();
  const changes: string[] = [];
  const { clock, cri, observed, log } = world;
  const onChange = (changed: PodUid): void => void changes.push(`${changed} ${clock.monotonic()}`);
  const common = { clock, random: seededRandom(1), log, runtime: cri, observed, onChange };
  const pleg = new Pleg({
    eventSources: [],
    podsOnDisk: async () => [],
    metrics: new Registry(),
    heartbeats: new Heartbeats(),
    ...common,
    relistPeriodMs: 1_000,
  });
  await pleg.start();
  await clock.advance(500);
  world.calls();
  cri.killContainer(world.container);
  await clock.settle();
  assert.deepEqual(changes, [`uid-1 ${clock.monotonic()}`]);
  assert.deepEqual(world.calls(), []);
  await pleg.stop();
});
