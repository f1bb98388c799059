import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import { createFakeCri, ignoresTerm, type FakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import {
  aContainer,
  anInstance,
  aPod,
  aSandbox,
  exited,
  observedPod,
  runContainer,
  runSandbox,
  testImage,
} from '../../testing/pods.ts';
import { hooksOn } from '../../testing/hooks.ts';
import { stopContainer } from './stop-container.ts';
import { removePod, stopPod } from './stop-pod.ts';

const pod = aPod({
  spec: {
    initContainers: [aContainer('side', { restartPolicy: 'Always' })],
    containers: [aContainer('main'), aContainer('web')],
  },
});

interface World {
  readonly clock: FakeClock;
  readonly cri: FakeCri;
  readonly events: string[];
  readonly observed: ObservedPod;
  readonly stop: (how?: { of?: DesiredPod; grace?: number; signal?: AbortSignal }) => Promise<void>;
  readonly remove: () => Promise<void>;
  /** Calls of one verb, by the id they name. */
  readonly called: (verb: string) => unknown[];
}

/** A pod with three running containers in one sandbox. */
async function setUp(prepare: (cri: FakeCri) => void = () => {}): Promise<World> {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  prepare(cri);
  const sandbox = await runSandbox(cri, pod);
  const names = ['main', 'web', 'side'];
  const ids = await Promise.all(names.map((name) => runContainer(cri, pod, sandbox, name)));
  const observed = observedPod(
    [aSandbox(sandbox)],
    names.map((name, n) => anInstance(name, { id: ids[n] ?? '' })),
  );
  const events: string[] = [];
  const deps = {
    ...hooksOn(clock, cri),
    runtime: cri,
    log: new MemoryLog(),
    events: {
      record: (_: DesiredPod, event: { type: string; reason: string; message: string; fieldPath?: string }) =>
        void events.push(`${event.type} ${event.reason} ${event.message} ${event.fieldPath ?? ''}`),
    },
  };
  const never = new AbortController().signal;
  return {
    clock,
    cri,
    events,
    observed,
    stop: ({ of = pod, grace = 30, signal = never } = {}) => stopPod(deps, of, observed, grace, signal),
    remove: () => removePod(deps, observed, never),
    called: (verb) => cri.calls.filter((call) => call.verb === verb).map(({ request }) => request),
  };
}

const states = (cri: FakeCri): string[] => [
  ...[...cri.state.containers.values()].map(({ state }) => state),
  ...[...cri.state.sandboxes.values()].map(({ state }) => state),
];

describe('stopPod', () => {
  test('stops all containers, then the sandbox, and records events', async () => {
    const { cri, events, stop } = await setUp();
    await stop();
    assert.deepEqual(states(cri), ['exited', 'exited', 'exited', 'notReady']);
    const verbs = cri.calls.map(({ verb }) => verb).filter((verb) => verb.startsWith('stop'));
    assert.deepEqual(verbs, ['stopContainer', 'stopContainer', 'stopContainer', 'stopPodSandbox']);
    assert.deepEqual(events, [
      'Normal Killing Stopping container main spec.containers{main}',
      'Normal Killing Stopping container web spec.containers{web}',
      'Normal Killing Stopping container side spec.initContainers{side}',
    ]);
  });

  test('regular containers get their signal at once, a sidecar when they have ended', async () => {
    const { clock, cri, stop, called } = await setUp(({ programs }) => programs.otherwise(ignoresTerm));
    const stopped = stop({ grace: 10 });
    await clock.advance(9_999);
    assert.deepEqual(states(cri), ['running', 'running', 'running', 'ready']);
    assert.equal(called('stopContainer').length, 2);
    await clock.advance(1);
    assert.deepEqual(states(cri), ['exited', 'exited', 'running', 'ready']);
    // Nothing is left of its grace period but the minimum that every container gets.
    await clock.advance(2_000);
    await stopped;
    assert.deepEqual(states(cri), ['exited', 'exited', 'exited', 'notReady']);
  });

  test('the grace is in whole seconds, two at least', async () => {
    for (const [grace, timeout] of [
      [0, 2n],
      [1, 2n],
      [2, 2n],
      [2.1, 3n],
      [30, 30n],
    ] as const) {
      const { stop, called } = await setUp();
      await stop({ grace });
      assert.deepEqual(
        called('stopContainer').map((request) => (request as { readonly timeout: bigint }).timeout),
        [timeout, timeout, timeout],
        `grace ${grace}`,
      );
    }
  });

  test('a hook that outlasts the grace has failed; a pause that does has not', async () => {
    const hooks = [{ sleep: { seconds: 9 } }, { exec: { command: ['wait'] } }];
    const hookEvents: string[][] = [];
    for (const preStop of hooks) {
      const { clock, cri, events, stop } = await setUp();
      cri.execs.forContainer('main', { hangs: true });
      const containers = [aContainer('main', { lifecycle: { preStop } }), aContainer('web')];
      const stopped = stop({ grace: 3, of: aPod({ spec: { containers } }) });
      await clock.advance(6_000);
      await stopped;
      hookEvents.push(events.filter((event) => event.includes('Hook')));
    }
    assert.deepEqual(hookEvents, [[], ['Warning FailedPreStopHook PreStopHook failed spec.containers{main}']]);
  });

  test('what the runtime does not have counts as stopped', async () => {
    const { cri, observed, stop } = await setUp();
    for (const { id } of observed.sandboxes) await cri.removePodSandbox({ podSandboxId: id });
    await stop();
  });

  test('only what runs is stopped; what was only created or has ended is not', async () => {
    const { clock, cri, called } = await setUp();
    const alive = [anInstance('main', { state: 'unknown', id: 'lost' })];
    const rest = [anInstance('web', exited(0)), anInstance('side', { state: 'created' })];
    const deps = { ...hooksOn(clock, cri), runtime: cri, log: new MemoryLog(), events: { record: () => {} } };
    await stopPod(deps, pod, observedPod([], [...alive, ...rest]), 5, new AbortController().signal);
    assert.deepEqual(
      called('stopContainer').map((request) => (request as { readonly containerId: string }).containerId),
      ['lost'],
    );
  });

  test('one that cannot be stopped keeps no other running; failures come together', async () => {
    const { cri, observed, stop, called } = await setUp();
    const [main, web] = observed.containers.map(({ id }) => id as string);
    const about = (id: string | undefined) => (request: unknown) =>
      (request as { readonly containerId: string }).containerId === id;
    cri.faults.fail('stopContainer', 'internal', { when: about(main), message: 'main is stuck' });
    cri.faults.fail('stopContainer', 'timeout', { when: about(web), message: 'web is slow' });
    await assert.rejects(stop(), (error: Error) => {
      assert.match(error.message, /^cannot stop containers: .*main is stuck.*; .*web is slow/);
      return true;
    });
    assert.deepEqual(states(cri), ['running', 'running', 'exited', 'ready']);
    assert.deepEqual(called('stopPodSandbox'), [], 'a sandbox is not pulled away from under what runs');
    cri.faults.clear();
    await stop();
    assert.deepEqual(states(cri), ['exited', 'exited', 'exited', 'notReady']);
  });

  test('a sandbox that cannot be stopped is a failure', async () => {
    const { cri, stop } = await setUp();
    cri.faults.fail('stopPodSandbox', 'internal', { message: 'network is stuck' });
    await assert.rejects(stop(), /^TubeletError: cannot stop sandboxes: .*network is stuck/);
  });

  test('an abort ends the wait, and the sandbox is left alone', async () => {
    const { clock, cri, stop, called } = await setUp(({ programs }) => programs.otherwise(ignoresTerm));
    const gaveUp = new AbortController();
    const stopped = stop({ signal: gaveUp.signal });
    const outcome = assert.rejects(stopped, /enough/);
    await clock.settle();
    gaveUp.abort(new Error('enough'));
    await outcome;
    assert.deepEqual(called('stopPodSandbox'), []);
    assert.equal(cri.containerNamed('main')?.state, 'running');
  });

  test('a pod that only the runtime knows is stopped without events', async () => {
    const { clock, cri, events, observed } = await setUp();
    const deps = {
      ...hooksOn(clock, cri),
      runtime: cri,
      log: new MemoryLog(),
      events: { record: () => void events.push('event') },
    };
    await stopPod(deps, undefined, observed, 1, new AbortController().signal);
    assert.deepEqual(events, []);
    assert.deepEqual(states(cri), ['exited', 'exited', 'exited', 'notReady']);
  });
});

test('a kill with a reason records the reason', async () => {
  const { clock, cri, observed } = await setUp();
  const messages: string[] = [];
  const deps = {
    ...hooksOn(clock, cri),
    runtime: cri,
    log: new MemoryLog(),
    events: { record: (_: DesiredPod, { message }: { message: string }) => void messages.push(message) },
  };
  const [main] = observed.containers;
  assert.ok(main);
  const message = 'Container main failed liveness probe, will be restarted';
  await stopContainer(deps, pod, main, {
    graceSeconds: 5,
    podIp: '',
    message,
    signal: new AbortController().signal,
  });
  assert.deepEqual(messages, [message]);
  assert.equal(cri.containerNamed('main')?.state, 'exited');
  assert.equal(cri.containerNamed('web')?.state, 'running');
});

describe('removePod', () => {
  test('removes containers and sandboxes from the runtime, and can be repeated', async () => {
    const { cri, stop, remove } = await setUp();
    await stop();
    await remove();
    assert.deepEqual(states(cri), []);
    await remove();
  });

  test('failures come together', async () => {
    const { cri, stop, remove, called } = await setUp();
    await stop();
    cri.faults.fail('removeContainer', 'internal', { times: 2, message: 'busy' });
    await assert.rejects(remove(), /cannot remove containers: .*busy.*; .*busy/);
    assert.deepEqual(called('removePodSandbox'), []);
    assert.deepEqual(states(cri).length, 3, 'one container went');
    await remove();
    assert.deepEqual(states(cri), []);
  });
});
