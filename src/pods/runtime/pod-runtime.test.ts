import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultBackoffLimits } from '../../base/backoff.ts';
import { ContainerConfig } from '../../gen/cri/api.ts';
import { containerHash } from '../../model/container-hash.ts';
import type { PodSpec } from '../../gen/kubernetes/types.ts';
import { containerHashAnnotation, containerLabels } from '../../model/labels.ts';
import type { StartRefusal } from '../../model/refusal.ts';
import type { RuntimeOutcome } from '../../model/sync-outcome.ts';
import { Registry } from '../../telemetry/registry.ts';
import { createFakeCri, exitAfter, failsToStart, type FakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { goldenSettings } from '../../testing/golden.ts';
import { MemoryDecisions } from '../../testing/memory-decisions.ts';
import { MemoryEvents } from '../../testing/memory-events.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { observe } from '../../testing/observe.ts';
import { aContainer, aPod, testImage } from '../../testing/pods.ts';
import { hooksOn } from '../../testing/hooks.ts';
import { computePrune } from '../container-gc/index.ts';
import { RestartBackoff } from './restart-backoff.ts';
import { PodRuntime } from './pod-runtime.ts';
import { computeRestartCount } from './prepare-container.ts';
import { StartErrors } from './start-errors.ts';

const never = new AbortController().signal;

class World {
  readonly clock = new FakeClock();
  readonly cri: FakeCri = createFakeCri({ clock: this.clock });
  readonly events = new MemoryEvents();
  readonly errors = new StartErrors();
  readonly decisions = new MemoryDecisions();
  readonly backoff = new RestartBackoff({ clock: this.clock, limits: defaultBackoffLimits });
  readonly pod;
  /** Why preparing a container is refused, by its name. */
  readonly refusals = new Map<string, StartRefusal>();
  /** The addresses each container was prepared with. */
  readonly podIps: (readonly string[])[] = [];
  readonly runtime: PodRuntime;
  /** Why pods can have no network. */
  networkError: string | undefined;

  constructor(spec: Partial<PodSpec> = {}) {
    this.pod = aPod({ spec });
    this.cri.images.add(testImage);
    const { clock, cri, events, errors, backoff, pod } = this;
    this.runtime = new PodRuntime({
      runtimeHandlers: () => new Set<string>(),
      userNamespaces: { blockFor: async () => undefined },
      volumes: { extraGroups: () => [] },
      exitEventsReliable: () => false,
      metrics: new Registry(),
      clock,
      log: new MemoryLog(),
      decisions: this.decisions,
      runtime: cri,
      events,
      errors,
      backoff,
      hooks: hooksOn(clock, cri).hooks,
      prune: (seen) => computePrune(seen, 1),
      logs: { remove: async () => {} },
      probes: { liveness: () => 'success', startup: () => 'success' },
      prepare: async ({ start, podIps }) => {
        const { name } = start.container;
        this.podIps.push(podIps);
        const refusal = this.refusals.get(name);
        if (refusal !== undefined) return { refusal };
        const ok = ContainerConfig.fromPartial({
          metadata: { name, attempt: computeRestartCount(start, undefined) },
          image: { image: testImage },
          labels: containerLabels(pod, name),
          annotations: { [containerHashAnnotation]: containerHash(start.container) },
        });
        return { ok };
      },
      settings: goldenSettings,
      hostDns: async () => ({ servers: ['192.0.2.53'], searches: [], options: [] }),
      hostIps: () => ['192.0.2.1'],
      networkError: () => this.networkError,
    });
  }

  async sync(): Promise<RuntimeOutcome> {
    return this.runtime.sync(this.pod, await observe(this.cri, this.pod), never);
  }

  /** Every container that there is, newest last, with its state. */
  containers(): string[] {
    return [...this.cri.state.containers.values()].map(({ config, state }) => {
      const { name = '', attempt = 0 } = config.metadata ?? {};
      return `${name}#${attempt} ${state}`;
    });
  }

  /** How often the runtime was asked to make a container. */
  creates(): number {
    return this.cri.calls.filter(({ verb }) => verb === 'createContainer').length;
  }

  sandboxes(): string[] {
    return [...this.cri.state.sandboxes.values()].map(({ config, state }) => `#${config.metadata?.attempt} ${state}`);
  }
}

describe('a pod from nothing', () => {
  test('gets a sandbox and its containers in one go; then there is nothing to do', async () => {
    const world = new World({ containers: [aContainer('a'), aContainer('b')] });
    assert.deepEqual(await world.sync(), { acted: true });
    assert.deepEqual(world.sandboxes(), ['#0 ready']);
    assert.deepEqual(world.containers(), ['a#0 running', 'b#0 running']);
    assert.deepEqual(world.podIps, [['10.88.0.1'], ['10.88.0.1']], 'the address of the new sandbox is known at once');
    assert.deepEqual(world.decisions.take(), [
      'uid-1 createSandbox NoSandbox: there is no sandbox',
      'uid-1/a start Started: the sandbox is new',
      'uid-1/b start Started: the sandbox is new',
    ]);
    assert.deepEqual(await world.sync(), { acted: false });
    assert.deepEqual(world.decisions.take(), []);
    assert.equal(world.events.take().length, 4);
  });

  test('init containers come one after another', async () => {
    const world = new World({ initContainers: [aContainer('one'), aContainer('two')] });
    world.cri.programs.forContainer('one', exitAfter(400, 0));
    world.cri.programs.forContainer('two', exitAfter(400, 0));
    assert.deepEqual(await world.sync(), { acted: true });
    assert.deepEqual(await world.sync(), { acted: false, requeueAfterMs: 25 }, 'waits, and is synced again soon');
    await world.clock.advance(400);
    assert.deepEqual(await world.sync(), { acted: true });
    await world.clock.advance(400);
    assert.deepEqual(await world.sync(), { acted: true });
    assert.deepEqual(world.containers(), ['one#0 exited', 'two#0 exited', 'main#0 running']);
  });

  test('needs a sandbox until it has one', async () => {
    const world = new World();
    const needs = async () => world.runtime.needsSandbox(world.pod, await observe(world.cri, world.pod));
    assert.equal(await needs(), true);
    await world.sync();
    assert.equal(await needs(), false);
  });
});

describe('the network of a pod', () => {
  const problem = 'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:no cni';

  test('without one nothing is made, and it is checked again soon', async () => {
    const world = new World();
    world.networkError = problem;
    assert.deepEqual(await world.sync(), { acted: false, requeueAfterMs: 1_000 });
    assert.deepEqual(world.sandboxes(), []);
    assert.deepEqual(world.events.take(), [`Warning NetworkNotReady: network is not ready: ${problem}`]);
    assert.deepEqual(world.decisions.take(), [`uid-1 wait NetworkNotReady: network is not ready: ${problem}`]);
    world.networkError = undefined;
    assert.deepEqual(await world.sync(), { acted: true });
    assert.deepEqual(world.containers(), ['main#0 running']);
  });

  test('a pod on the network of the node does not wait for it', async () => {
    const world = new World({ hostNetwork: true });
    world.networkError = problem;
    assert.deepEqual(await world.sync(), { acted: true });
    assert.deepEqual(world.sandboxes(), ['#0 ready']);
  });

  test('what was left out of its resolver configuration is recorded', async () => {
    const nameservers = ['1', '2', '3', '4'].map((digit) => `192.0.2.${digit}`);
    const world = new World({ dnsPolicy: 'None', dnsConfig: { nameservers } });
    await world.sync();
    assert.equal(
      world.events.take()[0],
      'Warning DNSConfigForming: Nameserver limits were exceeded, some nameservers have been omitted, the applied ' +
        'nameserver line is: 192.0.2.1 192.0.2.2 192.0.2.3',
    );
    await world.sync();
    assert.deepEqual(world.events.take(), [], 'not again while nothing is made');
  });
});

describe('refusals', () => {
  test('one container that cannot start does not delay the next', async () => {
    const world = new World({ containers: [aContainer('a'), aContainer('b')] });
    world.refusals.set('a', { reason: 'ErrImagePull', message: 'no registry', retryMs: 4_000 });
    assert.deepEqual(await world.sync(), { acted: true, requeueAfterMs: 1_000 });
    assert.deepEqual(world.containers(), ['b#0 running']);
    assert.equal(world.errors.of(world.pod.uid).get('a')?.reason, 'ErrImagePull');
  });

  test('nothing but refusals is no action; the soonest retry is when to sync again, ten seconds where none has one', async () => {
    const world = new World({ containers: [aContainer('a'), aContainer('b')] });
    world.refusals.set('a', { reason: 'CreateContainerConfigError', message: 'configmap "nope" not found' });
    world.refusals.set('b', { reason: 'ImagePullBackOff', message: 'wait', retryMs: 20_000 });
    await world.sync();
    assert.deepEqual(await world.sync(), { acted: false, requeueAfterMs: 10_000 });
  });

  test('a pod whose pull failed is synced before the next pull is due, so that the wait for it is reported', async () => {
    const world = new World();
    world.refusals.set('main', { reason: 'ErrImagePull', message: 'no registry', retryMs: 160_000 });
    assert.deepEqual(await world.sync(), { acted: true, requeueAfterMs: 1_000 });
    world.refusals.set('main', { reason: 'ImagePullBackOff', message: 'wait', retryMs: 150_000 });
    assert.deepEqual(await world.sync(), { acted: false, requeueAfterMs: 150_000 });
    world.refusals.set('main', { reason: 'ErrImagePull', message: 'no registry', retryMs: 160_000 });
    assert.deepEqual(await world.sync(), { acted: false, requeueAfterMs: 10_000 });
  });

  test('what the runtime fails at is tried again after a second, and then every ten', async () => {
    const world = new World();
    world.cri.faults.fail('createContainer', 'internal', { times: 3, message: 'no such profile' });
    assert.deepEqual(await world.sync(), { acted: true, requeueAfterMs: 1_000 });
    assert.equal(world.creates(), 1);
    assert.deepEqual(await world.sync(), { acted: false, requeueAfterMs: 1_000 }, 'not before');
    assert.equal(world.creates(), 1);
    await world.clock.advance(1_000);
    assert.deepEqual(await world.sync(), { acted: false, requeueAfterMs: 10_000 });
    await world.clock.advance(9_000);
    assert.deepEqual(await world.sync(), { acted: false, requeueAfterMs: 1_000 });
    assert.equal(world.creates(), 2);
    await world.clock.advance(1_000);
    await world.sync();
    assert.equal(world.creates(), 3);
  });

  test('a container that failed to run is there, dead: that is an action', async () => {
    const world = new World();
    world.cri.programs.forContainer('main', failsToStart('no such file'));
    await world.sync();
    assert.deepEqual(world.containers(), ['main#0 exited']);
    assert.equal((await world.sync()).acted, true);
    assert.deepEqual(world.containers(), ['main#0 exited', 'main#1 exited']);
  });

  test('a sandbox that cannot be made is an error with its own event', async () => {
    const world = new World();
    world.cri.faults.fail('runPodSandbox', 'internal', { times: 1, message: 'plugin type="bridge" failed' });
    await assert.rejects(world.sync(), /Failed to create pod sandbox: plugin type="bridge" failed/);
    assert.deepEqual(world.events.take(), [
      'Warning FailedCreatePodSandBox: Failed to create pod sandbox: plugin type="bridge" failed',
    ]);
    assert.deepEqual(await world.sync(), { acted: true });
  });
});

describe('trouble', () => {
  test('a lost sandbox is stopped and replaced, and its containers with it', async () => {
    const world = new World();
    await world.sync();
    world.events.take();
    world.cri.killSandbox([...world.cri.state.sandboxes.keys()][0] ?? '');
    assert.deepEqual(await world.sync(), { acted: true });
    assert.deepEqual(world.sandboxes(), ['#0 notReady', '#1 ready']);
    assert.deepEqual(world.containers(), ['main#0 exited', 'main#1 running']);
    assert.deepEqual(world.events.take(), [
      'Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created.',
      'Normal Killing: Stopping container main',
      'Normal Created: Created container: main',
      'Normal Started: Started container main',
    ]);
  });

  test('of dead containers only the last is kept', async () => {
    const world = new World();
    world.cri.programs.forContainer('main', exitAfter(0, 1));
    for (let round = 0; round < 4; round++) {
      await world.sync();
      await world.clock.advance(300_000);
    }
    await world.sync();
    assert.deepEqual(world.containers().slice(-2), ['main#3 exited', 'main#4 exited']);
    assert.equal(world.containers().length, 2);
  });

  test('an image that changed: killed, then started again in the same sandbox', async () => {
    const world = new World();
    await world.sync();
    world.events.take();
    const changed = aPod({ spec: { containers: [aContainer('main', { image: 'localhost/other:2' })] } });
    await world.runtime.sync(changed, await observe(world.cri, world.pod), never);
    assert.deepEqual(world.sandboxes(), ['#0 ready']);
    assert.deepEqual(world.containers(), ['main#0 exited', 'main#1 running']);
    assert.equal(world.events.take()[0], 'Normal Killing: Container main definition changed, will be restarted');
  });

  test('a pod that is over is stopped once; after that nothing counts as an action', async () => {
    const world = new World({ restartPolicy: 'Never' });
    world.cri.programs.forContainer('main', exitAfter(0, 0));
    await world.sync();
    assert.deepEqual(await world.sync(), { acted: true, ended: true }, 'the sandbox is stopped');
    assert.deepEqual(world.sandboxes(), ['#0 notReady']);
    assert.deepEqual(await world.sync(), { acted: false, ended: true });
  });

  test('a pod that lost its sandbox for good does not spin', async () => {
    const world = new World({ restartPolicy: 'Never', initContainers: [aContainer('prep')] });
    world.cri.programs.forContainer('prep', exitAfter(0, 0));
    await world.sync();
    world.cri.killSandbox([...world.cri.state.sandboxes.keys()][0] ?? '');
    const outcomes = [await world.sync(), await world.sync(), await world.sync()];
    assert.deepEqual(outcomes, [
      { acted: false, ended: true },
      { acted: false, ended: true },
      { acted: false, ended: true },
    ]);
  });
});

describe('the end', () => {
  test('stop and remove leave nothing, in the runtime or in memory', async () => {
    const world = new World();
    world.cri.programs.forContainer('main', exitAfter(0, 1));
    for (let round = 0; round < 3; round++) await world.sync();
    assert.equal(world.errors.of(world.pod.uid).size, 1);
    assert.equal(world.backoff.size(), 1);
    await world.runtime.stop(world.pod, await observe(world.cri, world.pod), 5, never);
    assert.deepEqual(world.sandboxes(), ['#0 notReady']);
    await world.runtime.remove(await observe(world.cri, world.pod), never);
    assert.deepEqual([world.sandboxes(), world.containers()], [[], []]);
    assert.equal(world.errors.of(world.pod.uid).size, 0);
    assert.equal(world.backoff.size(), 0);
  });
});

describe('runtime classes', () => {
  test('a class that the runtime does not announce is refused with a message', async () => {
    const world = new World({ runtimeClassName: 'kata' });
    await assert.rejects(world.sync(), /Failed to create pod sandbox: runtimeclass\.node\.k8s\.io "kata" not found/);
    assert.equal(
      world.cri.calls.some(({ verb }) => verb === 'runPodSandbox'),
      false,
    );
  });
});

test('a crash, the back-off after it and the restart are recorded with how it ended and when it is tried again', async () => {
  const world = new World({ containers: [aContainer('a')] });
  world.cri.programs.forContainer('a', exitAfter(0, 3));
  await world.sync();
  await world.clock.advance(0);
  await world.sync();
  await world.clock.advance(0);
  world.decisions.take();
  await world.sync();
  const [wait, ...others] = world.decisions.entries.splice(0);
  assert.deepEqual(others, []);
  const { kind, reason, containerName, inputs, nextTryInMs } = wait?.decision ?? {};
  assert.deepEqual([kind, reason, containerName, nextTryInMs], ['backOff', 'CrashLoopBackOff', 'a', 10_000]);
  const previous = inputs?.['previous'];
  assert.ok(typeof previous === 'object' && previous !== null && 'exitCode' in previous);
  assert.equal(previous.exitCode, 3);
  await world.clock.advance(10_000);
  await world.sync();
  assert.deepEqual(world.decisions.take(), ['uid-1/a restart Restarted: it ended']);
});
