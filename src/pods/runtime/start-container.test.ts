import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultBackoffLimits } from '../../base/backoff.ts';
import { TubeletError } from '../../base/errors.ts';
import { sandboxId } from '../../base/ids.ts';
import { ContainerConfig, PodSandboxConfig } from '../../gen/cri/api.ts';
import { containerLabels } from '../../model/labels.ts';
import type { StartRefusal, Refusable } from '../../model/refusal.ts';
import { Registry } from '../../telemetry/index.ts';
import { createFakeCri, exitAfter, failsToStart, type FakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryEvents } from '../../testing/memory-events.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { observe } from '../../testing/observe.ts';
import { aContainer, anInstance, aPod, createContainer, exited, runSandbox, testImage } from '../../testing/pods.ts';
import { startOf } from './pod-actions.ts';
import { computeRestartCount } from './prepare-container.ts';
import { hooksOn } from '../../testing/hooks.ts';
import { RestartBackoff } from './restart-backoff.ts';
import { runtimeMetrics } from './runtime-metrics.ts';
import { startContainer, type StartDeps } from './start-container.ts';
import { StartErrors } from './start-errors.ts';

const pod = aPod();
const main = aContainer('main');

interface World {
  readonly clock: FakeClock;
  readonly cri: FakeCri;
  readonly events: MemoryEvents;
  readonly errors: StartErrors;
  /** The page of metrics. */
  readonly metrics: () => string;
  /** What preparing answers; by default a container of the test image. */
  prepared: Refusable<ContainerConfig> | undefined;
  /** What happens meanwhile. */
  whilePreparing: () => Promise<unknown>;
  readonly start: (signal?: AbortSignal) => Promise<StartRefusal | undefined>;
}

/** A pod with a sandbox; `start` starts its container after whatever instance the runtime has. */
async function setUp(kind: 'regular' | 'init' = 'regular'): Promise<World> {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  const sandbox = await runSandbox(cri, pod);
  const events = new MemoryEvents();
  const errors = new StartErrors();
  const registry = new Registry();
  const backoff = new RestartBackoff({ clock, limits: defaultBackoffLimits });
  const sandboxConfig = PodSandboxConfig.fromPartial({ metadata: { name: pod.name, uid: pod.uid } });
  const deps: StartDeps = {
    ...hooksOn(clock, cri),
    log: new MemoryLog(),
    runtime: cri,
    events,
    errors,
    backoff,
    started: runtimeMetrics(registry),
    prepare: async ({ start }) => {
      await world.whilePreparing();
      return (
        world.prepared ?? {
          ok: ContainerConfig.fromPartial({
            metadata: { name: 'main', attempt: computeRestartCount(start, undefined) },
            image: { image: testImage },
            labels: containerLabels(pod, 'main'),
          }),
        }
      );
    },
  };
  let ended: number | undefined;
  const context = {
    pod,
    sandbox: sandboxId(sandbox),
    sandboxConfig,
    podIps: ['10.0.0.2'],
    lastEnd: () => ended,
    newest: () => undefined,
  };
  const world: World = {
    clock,
    cri,
    events,
    errors,
    metrics: () => registry.render(),
    prepared: undefined,
    whilePreparing: async () => {},
    async start(signal = new AbortController().signal) {
      const [previous] = (await observe(cri, pod)).containers;
      ended = previous?.state === 'exited' ? previous.finishedAt : undefined;
      return startContainer(deps, context, startOf(main, kind, previous, 'the test wants it'), signal);
    },
  };
  return world;
}

const waiting = ({ errors }: World) => errors.of(pod.uid).get('main');

describe('a start', () => {
  test('creates the container, starts it, and records both', async () => {
    const world = await setUp();
    assert.equal(await world.start(), undefined);
    assert.equal(world.cri.containerNamed('main')?.state, 'running');
    assert.deepEqual(world.events.entries, [
      { type: 'Normal', reason: 'Created', message: 'Created container: main', fieldPath: 'spec.containers{main}' },
      { type: 'Normal', reason: 'Started', message: 'Started container main', fieldPath: 'spec.containers{main}' },
    ]);
    assert.equal(waiting(world), undefined);
  });

  test('events of an init container name it as one', async () => {
    const world = await setUp('init');
    await world.start();
    assert.deepEqual(
      world.events.entries.map(({ fieldPath }) => fieldPath),
      ['spec.initContainers{main}', 'spec.initContainers{main}'],
    );
  });

  test('replaces one that was made but never started, under its own number', async () => {
    const world = await setUp();
    const sandbox = [...world.cri.state.sandboxes.keys()][0] ?? '';
    const stale = await createContainer(world.cri, pod, sandbox, 'main', 3);
    assert.equal(await world.start(), undefined);
    const containers = [...world.cri.state.containers.values()];
    assert.deepEqual(
      containers.map(({ state, config }) => [state, config.metadata?.attempt]),
      [['running', 3]],
    );
    assert.equal(world.cri.state.containers.has(stale), false);
  });

  test('leaves alone one that runs after all: a call of an agent that has died may start it late', async () => {
    const world = await setUp();
    const sandbox = [...world.cri.state.sandboxes.keys()][0] ?? '';
    const late = await createContainer(world.cri, pod, sandbox);
    world.whilePreparing = () => world.cri.startContainer({ containerId: late });
    assert.equal(await world.start(), undefined);
    assert.deepEqual(
      [...world.cri.state.containers.values()].map(({ id, state }) => [id, state]),
      [[late, 'running']],
    );
    assert.deepEqual(world.events.take(), []);
  });

  test('the stale one stays while its successor is refused', async () => {
    const world = await setUp();
    const sandbox = [...world.cri.state.sandboxes.keys()][0] ?? '';
    const stale = await createContainer(world.cri, pod, sandbox);
    world.prepared = { refusal: { reason: 'ErrImagePull', message: 'no registry' } };
    await world.start();
    assert.equal(world.cri.state.containers.has(stale), true);
  });

  test('forgets the reason of an earlier refusal', async () => {
    const world = await setUp();
    world.prepared = { refusal: { reason: 'CreateContainerConfigError', message: 'configmap "nope" not found' } };
    await world.start();
    assert.deepEqual(waiting(world), { reason: 'CreateContainerConfigError', message: 'configmap "nope" not found' });
    world.prepared = undefined;
    await world.start();
    assert.equal(waiting(world), undefined);
  });
});

describe('a refusal', () => {
  test('of the configuration is recorded with its message', async () => {
    const world = await setUp();
    world.prepared = { refusal: { reason: 'CreateContainerConfigError', message: 'configmap "nope" not found' } };
    assert.deepEqual(await world.start(), {
      reason: 'CreateContainerConfigError',
      message: 'configmap "nope" not found',
      retryMs: 1_000,
    });
    assert.deepEqual(world.events.take(), ['Warning Failed: Error: configmap "nope" not found']);
    assert.equal(world.cri.state.containers.size, 0);
  });

  test('of the image is recorded by its reason, for the details have had their event', async () => {
    for (const reason of [
      'ErrImagePull',
      'ImagePullBackOff',
      'ErrImageNeverPull',
      'InvalidImageName',
      'RegistryUnavailable',
      'SignatureValidationFailed',
    ]) {
      const world = await setUp();
      world.prepared = { refusal: { reason, message: 'a long story', retryMs: 7_000 } };
      assert.deepEqual(await world.start(), { reason, message: 'a long story', retryMs: 1_000 });
      assert.deepEqual(world.events.take(), [`Warning Failed: Error: ${reason}`]);
      assert.deepEqual(waiting(world), { reason, message: 'a long story' });
    }
  });

  test('of the runtime to make it', async () => {
    const world = await setUp();
    world.cri.faults.fail('createContainer', 'internal', { message: 'no space left on device' });
    assert.deepEqual(await world.start(), {
      reason: 'CreateContainerError',
      message: 'no space left on device',
      retryMs: 1_000,
    });
    assert.deepEqual(world.events.take(), ['Warning Failed: Error: no space left on device']);
  });

  test('of the runtime to start it comes after it was made', async () => {
    const world = await setUp();
    const message = 'exec: "/no/such": stat /no/such: no such file or directory: unknown';
    world.cri.programs.forContainer('main', failsToStart(message));
    assert.deepEqual(await world.start(), { reason: 'RunContainerError', message, retryMs: 1_000 });
    assert.deepEqual(world.events.take(), [
      'Normal Created: Created container: main',
      `Warning Failed: Error: ${message}`,
    ]);
    assert.deepEqual(waiting(world), { reason: 'RunContainerError', message });
  });

  test('a start that is aborted leaves no reason behind', async () => {
    const world = await setUp();
    world.cri.faults.hang('createContainer');
    const gaveUp = new AbortController();
    const start = world.start(gaveUp.signal);
    const outcome = assert.rejects(start, /enough/);
    await world.clock.settle();
    gaveUp.abort(new TubeletError('cancelled', 'enough'));
    await outcome;
    assert.equal(waiting(world), undefined);
    assert.deepEqual(world.events.take(), []);
  });
});

describe('back-off', () => {
  test('the first restart comes at once, later ones after 10 s doubling up to 5 minutes', async () => {
    const world = await setUp();
    world.cri.programs.forContainer('main', exitAfter(0, 1));
    await world.start();
    assert.equal(await world.start(), undefined, 'first restart');
    for (const [seconds, said] of [
      [10, '10s'],
      [20, '20s'],
      [40, '40s'],
      [80, '1m20s'],
      [160, '2m40s'],
      [300, '5m0s'],
      [300, '5m0s'],
    ] as const) {
      world.events.take();
      const refusal = await world.start();
      assert.deepEqual(refusal, {
        reason: 'CrashLoopBackOff',
        message: `back-off ${said} restarting failed container=main pod=web_default(uid-1)`,
        retryMs: seconds * 1_000,
      });
      assert.deepEqual(world.events.take(), [
        'Warning BackOff: Back-off restarting failed container main in pod web_default(uid-1)',
      ]);
      assert.equal(waiting(world)?.reason, 'CrashLoopBackOff');
      await world.clock.advance(seconds * 1_000 - 1);
      assert.equal((await world.start())?.retryMs, 1);
      await world.clock.advance(1);
      assert.equal(await world.start(), undefined, `restart after ${said}`);
    }
  });

  test('counts from the end of the container, not from when it is seen', async () => {
    const world = await setUp();
    world.cri.programs.forContainer('main', exitAfter(0, 1));
    await world.start();
    await world.start();
    await world.clock.advance(4_000);
    assert.equal((await world.start())?.retryMs, 6_000);
  });

  test('is forgotten by a container that ran well for ten minutes', async () => {
    const world = await setUp();
    world.cri.programs.forContainer('main', exitAfter(0, 1), exitAfter(601_000, 1));
    await world.start();
    await world.start();
    await world.clock.advance(601_000);
    assert.equal(await world.start(), undefined);
  });

  test('a container with another image starts at the minimum', async () => {
    const clock = new FakeClock();
    const backoff = new RestartBackoff({ clock, limits: defaultBackoffLimits });
    const refusals: (string | undefined)[] = [];
    const runtime = createFakeCri({ clock });
    const deps: StartDeps = {
      ...hooksOn(clock, runtime),
      log: new MemoryLog(),
      runtime,
      events: new MemoryEvents(),
      errors: new StartErrors(),
      backoff,
      started: runtimeMetrics(new Registry()),
      prepare: async () => ({ refusal: { reason: 'Tried', message: '' } }),
    };
    const context = {
      pod,
      sandbox: sandboxId('s0'),
      sandboxConfig: PodSandboxConfig.fromPartial({}),
      podIps: [],
      lastEnd: () => clock.now(),
      newest: () => undefined,
    };
    const dead = anInstance('main', exited(1, clock.now()));
    for (const image of ['a:1', 'a:1', 'a:2']) {
      const start = startOf(aContainer('main', { image }), 'regular', dead, '');
      refusals.push((await startContainer(deps, context, start, new AbortController().signal))?.reason);
    }
    assert.deepEqual(refusals, ['Tried', 'CrashLoopBackOff', 'Tried']);
  });
});

test('starts are counted, delayed ones are not, and failures by their reason', async () => {
  const world = await setUp('init');
  world.cri.programs.forContainer('main', exitAfter(0, 1));
  for (const _ of [1, 2, 3]) await world.start();
  world.prepared = { refusal: { reason: 'ErrImagePull', message: 'no' } };
  await world.clock.advance(10_000);
  await world.start();
  const page = world.metrics();
  assert.match(page, /^kubelet_started_containers_total\{container_type="init_container"\} 3$/m);
  assert.match(
    page,
    /^kubelet_started_containers_errors_total\{code="ErrImagePull",container_type="init_container"\} 1$/m,
  );
});
