import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PodStatus } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedPod } from '../../model/observed-pod.ts';
import type { StartError } from '../../model/refusal.ts';
import type { StatusInput } from '../../model/sync-outcome.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aContainer, anInstance, aPod, aSandbox, exited, observedPod } from '../../testing/pods.ts';
import { PodStatuses } from './pod-statuses.ts';
import { StatusPublisher, type StatusPublisherDeps } from './status-publisher.ts';

class World {
  readonly clock = new FakeClock({ wall: Date.parse('2026-01-01T00:00:00Z') });
  readonly log = new MemoryLog();
  readonly statuses = new PodStatuses();
  readonly errors = new Map<string, StartError>();
  ready = true;
  readonly deps: StatusPublisherDeps = {
    clock: this.clock,
    log: this.log,
    statuses: this.statuses,
    probes: { ready: () => this.ready, started: () => true },
    startErrors: () => this.errors,
    hostIps: () => ['192.0.2.1'],
    runtimeName: () => 'containerd',
    metrics: new Registry(),
    resizeRefusal: () => undefined,
    recursiveReadOnly: () => false,
    features: { ownRestartRules: false, stopSignals: false, users: false },
  };
  readonly publisher = new StatusPublisher(this.deps);

  publish(pod: DesiredPod, observed: ObservedPod, more: Partial<StatusInput> = {}): PodStatus {
    return this.publisher.publish({ pod, observed, needsSandbox: false, terminal: false, ...more });
  }

  kept(pod: DesiredPod): PodStatus {
    return this.statuses.get(pod.uid) ?? {};
  }
}

const running = observedPod([aSandbox('s0')], [anInstance('main')]);
const ended = (code: number) =>
  observedPod([aSandbox('s0', { state: 'notReady', ips: [] })], [anInstance('main', exited(code))]);
const ready = (status: PodStatus) => status.conditions?.find(({ type }) => type === 'Ready')?.status;

describe('publish', () => {
  test('what is seen becomes the status, and is kept', () => {
    const world = new World();
    const pod = aPod();
    const status = world.publish(pod, running);
    assert.deepEqual(world.kept(pod), status);
    assert.equal(status.phase, 'Running');
    assert.equal(status.podIP, '10.0.0.2');
    assert.equal(status.hostIP, '192.0.2.1');
    assert.equal(status.containerStatuses?.[0]?.containerID, 'containerd://main-0');
    assert.equal(ready(status), 'True');
  });

  test('saying the same again is no new version', async () => {
    const world = new World();
    const pod = aPod();
    world.publish(pod, running);
    await world.clock.advance(60_000);
    world.publish(pod, running);
    assert.equal(world.statuses.versionOf(pod.uid), 1);
    world.ready = false;
    world.publish(pod, running);
    assert.equal(world.statuses.versionOf(pod.uid), 2);
    assert.equal(ready(world.kept(pod)), 'False');
  });

  test('times stay those of the change', async () => {
    const world = new World();
    const pod = aPod();
    world.publish(pod, observedPod([], []));
    await world.clock.advance(5_000);
    const { startTime, conditions } = world.publish(pod, running);
    assert.equal(startTime, '2026-01-01T00:00:00Z');
    const since = (type: string) => conditions?.find((entry) => entry.type === type)?.lastTransitionTime;
    assert.equal(since('PodScheduled'), '2026-01-01T00:00:00Z');
    assert.equal(since('Ready'), '2026-01-01T00:00:05Z');
  });

  test('why a container cannot start is in its waiting state', () => {
    const world = new World();
    const pod = aPod();
    world.errors.set('main', { reason: 'ErrImagePull', message: 'no registry' });
    const status = world.publish(pod, observedPod([aSandbox('s0')], []));
    assert.deepEqual(status.containerStatuses?.[0]?.state, {
      waiting: { reason: 'ErrImagePull', message: 'no registry' },
    });
  });

  test('a status that the source brought counts as the one before', () => {
    const world = new World();
    const pod = aPod({ source: 'api', status: { phase: 'Running', startTime: '2025-12-31T00:00:00Z' } });
    assert.equal(world.publish(pod, running).startTime, '2025-12-31T00:00:00Z');
  });
});

describe('why a container could not start', () => {
  const crashed = observedPod([aSandbox('s0')], [anInstance('main', exited(1))]);
  const wait = { reason: 'CrashLoopBackOff', message: 'back-off 20s' };

  test('an end stays visible for a while, and the status is pending', async () => {
    const world = new World();
    const pod = aPod();
    world.errors.set('main', wait);
    assert.equal(world.publish(pod, crashed).containerStatuses?.[0]?.state?.terminated?.exitCode, 1);
    assert.equal(world.publisher.statusPending(pod.uid), true);
    await world.clock.advance(15_000);
    assert.deepEqual(world.publish(pod, crashed).containerStatuses?.[0]?.state, { waiting: wait });
    assert.equal(world.publisher.statusPending(pod.uid), false);
  });

  test('reported errors are forgotten with the pod', () => {
    const world = new World();
    const pod = aPod();
    world.errors.set('main', wait);
    world.publish(pod, crashed);
    world.publisher.finish(pod);
    assert.equal(world.publisher.statusPending(pod.uid), false);
  });
});

test('how long a pod took to run is measured once', async () => {
  const world = new World();
  const registry = new Registry();
  const publisher = new StatusPublisher({ ...world.deps, metrics: registry });
  const annotations = { 'kubernetes.io/config.seen': '2025-12-31T23:59:57Z' };
  const pod = aPod({ metadata: { annotations } });
  const publish = (observed: ObservedPod) => publisher.publish({ pod, observed, needsSandbox: false, terminal: false });
  publish(observedPod([], []));
  publish(running);
  publish(running);
  const page = registry.render();
  assert.match(page, /^kubelet_pod_start_duration_seconds_count 1$/m);
  assert.match(page, /^kubelet_pod_start_duration_seconds_sum 3$/m);
});

describe('the end of a pod', () => {
  const once = aPod({ source: 'api', spec: { restartPolicy: 'Never' } });

  test('is known to the agent at once, and published only when nothing can run any more', () => {
    const world = new World();
    world.publish(once, running);
    assert.equal(world.publish(once, ended(0)).phase, 'Succeeded');
    assert.equal(world.kept(once).phase, 'Running');
    assert.equal(world.publish(once, ended(0), { terminal: true }).phase, 'Succeeded');
    assert.equal(world.kept(once).phase, 'Succeeded');
    assert.equal(ready(world.kept(once)), 'False');
  });

  test('an end that was decided carries its reason', () => {
    const world = new World();
    const decided = { reason: 'Evicted', message: 'The node was low on resource: memory.' };
    world.publish(once, running);
    world.publish(once, running, { decided });
    assert.equal(world.kept(once).phase, 'Running');
    world.publish(once, ended(137), { decided, terminal: true });
    const { phase, reason, message } = world.kept(once);
    assert.deepEqual({ phase, reason, message }, { phase: 'Failed', ...decided });
  });

  test('what has ended for good does not come back: the change is refused and logged', () => {
    const world = new World();
    world.publish(once, ended(0), { terminal: true });
    const before = world.kept(once);
    world.publish(once, running);
    assert.equal(world.kept(once), before);
    assert.deepEqual(world.log.entries, [
      {
        severity: 'warn',
        message: 'Status change refused',
        fields: {
          pod: { namespace: 'default', name: 'web' },
          podUID: 'uid-1',
          reason: 'terminated container main attempted illegal transition to non-terminated state',
        },
      },
    ]);
  });
});

describe('finish', () => {
  test('whatever had no end gets one', () => {
    const world = new World();
    const pod = aPod({ spec: { containers: [aContainer('main'), aContainer('side')] } });
    world.publish(pod, observedPod([aSandbox('s0')], [anInstance('main', exited(0)), anInstance('side')]));
    world.publisher.finish(pod);
    const { phase, containerStatuses = [] } = world.kept(pod);
    assert.equal(phase, 'Failed');
    assert.deepEqual(
      containerStatuses.map(({ state }) => [state?.terminated?.exitCode, state?.terminated?.reason]),
      [
        [0, 'Completed'],
        [137, 'ContainerStatusUnknown'],
      ],
    );
  });

  test('an init container that ended for the pod was stopped has not done its work', () => {
    const world = new World();
    const pod = aPod({ spec: { initContainers: [aContainer('prep')] } });
    world.publish(pod, observedPod([aSandbox('s0')], [anInstance('prep')]));
    const stopped = observedPod([aSandbox('s0', { state: 'notReady' })], [anInstance('prep', exited(0))]);
    world.publish(pod, stopped, { terminal: true });
    world.publisher.finish(pod);
    const { phase, containerStatuses = [] } = world.kept(pod);
    assert.equal(phase, 'Failed');
    assert.deepEqual(
      containerStatuses.map(({ state }) => state?.waiting?.reason),
      ['PodInitializing'],
    );
  });

  test('a pod without a status gets none', () => {
    const world = new World();
    world.publisher.finish(aPod());
    assert.equal(world.statuses.get(aPod().uid), undefined);
  });

  test('an end that was published stays', () => {
    const world = new World();
    const pod = aPod({ source: 'api', spec: { restartPolicy: 'Never' } });
    world.publish(pod, ended(0), { terminal: true });
    world.publisher.finish(pod);
    assert.equal(world.kept(pod).phase, 'Succeeded');
    assert.equal(world.statuses.versionOf(pod.uid), 1);
  });
});
