import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DesiredPod } from '../../model/desired-pod.ts';
import { anInstance, exited } from '../../testing/pods.ts';
import { first, ok, podWith, probe, probeWorld, second, sick, startsNow, uid } from '../../testing/probe-world.ts';

test('deletion: liveness and startup end, and what has not started is not probed for readiness', async () => {
  const { clock, probes, see, answers, tries } = probeWorld();
  answers.set('start', () => sick);
  see(startsNow(clock));
  const container = {
    startupProbe: probe('start', { periodSeconds: 1, failureThreshold: 90 }),
    livenessProbe: probe('live', { periodSeconds: 1 }),
    readinessProbe: probe('ready', { periodSeconds: 1 }),
  };
  probes.addPod(podWith(container));
  await clock.advance(500);
  probes.updatePod(podWith(container, { deleted: true }));
  await clock.advance(2_000);
  assert.deepEqual(tries, ['start@0']);
  assert.equal(probes.results.ready('main', first), false);
});

test('deletion: readiness goes on, where the container has started', async () => {
  const { clock, probes, see, tries } = probeWorld();
  see(startsNow(clock));
  const container = {
    startupProbe: probe('start', { periodSeconds: 1 }),
    livenessProbe: probe('live', { periodSeconds: 10, initialDelaySeconds: 10 }),
    readinessProbe: probe('ready', { periodSeconds: 1 }),
  };
  probes.addPod(podWith(container));
  await clock.advance(500);
  probes.updatePod(podWith(container, { deleted: true }));
  await clock.advance(2_000);
  assert.deepEqual(tries, ['start@0', 'ready@0', 'ready@1000', 'ready@2000']);
  assert.equal(probes.results.ready('main', first), true);
});

test('stopLivenessAndStartup does the same, also to a try under way', async () => {
  const { clock, probes, see, answers, changes } = probeWorld();
  let gaveUp = false;
  answers.set('live', (_target, signal) => {
    signal.addEventListener('abort', () => (gaveUp = true));
    return clock.sleep(1_000, signal).then(() => sick);
  });
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live', { failureThreshold: 1 }) }));
  await clock.advance(500);
  probes.stopLivenessAndStartup(uid);
  assert.equal(gaveUp, true);
  await clock.advance(60_000);
  assert.equal(probes.results.liveness(first), 'success');
  assert.deepEqual(changes, []);
  assert.equal(clock.pending(), 0);
});

test('removing a pod leaves no timer, no try and no result', async () => {
  const { clock, probes, see, answers, events } = probeWorld();
  answers.set('ready', (_target, signal) => clock.sleep(5_000, signal).then(() => sick));
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live'), readinessProbe: probe('ready') }));
  await clock.advance(100);
  probes.removePod(uid);
  await clock.settle();
  assert.equal(clock.pending(), 0);
  assert.equal(probes.results.size, 0);
  assert.deepEqual(events, []);
  probes.removePod(uid);
});

test('a container that ends for good is not probed again, and its worker is not created again', async () => {
  const { clock, probes, see, tries } = probeWorld();
  see(startsNow(clock));
  const pod = podWith({ readinessProbe: probe('ready') }, { policy: 'Never' });
  probes.addPod(pod);
  await clock.advance(0);
  assert.equal(probes.results.ready('main', first), true);
  see(startsNow(clock, exited(0)));
  probes.addPod(pod);
  assert.equal(probes.results.ready('main', first), false);
  assert.equal(clock.pending(), 0);
  probes.addPod({ ...pod });
  await clock.advance(60_000);
  assert.deepEqual(tries, ['ready@0']);
});

test('a try whose container ended meanwhile does not count', async () => {
  const { clock, probes, see, answers, events } = probeWorld();
  answers.set('live', () => clock.sleep(800).then(() => ({ kind: 'error', state: 'unknown', error: 'no process' })));
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live') }));
  await clock.advance(500);
  see(startsNow(clock, exited(1)));
  await clock.advance(500);
  assert.deepEqual(events, []);
});

test('a new instance gives up the try on the old one', async () => {
  const { clock, probes, see, answers, tries, events } = probeWorld();
  answers.set('live', (target, signal) =>
    target.containerId === first ? clock.sleep(30_000, signal).then(() => sick) : ok,
  );
  see(startsNow(clock));
  const pod = podWith({ livenessProbe: probe('live') });
  probes.addPod(pod);
  await clock.advance(1_000);
  see(startsNow(clock, { attempt: 1 }), anInstance('main', exited(1)));
  probes.updatePod(pod);
  await clock.advance(40_000);
  assert.deepEqual(tries.slice(0, 2), ['live@0', 'live@1000']);
  assert.deepEqual(events, []);
});

test('after a restart of the agent nothing flaps', async () => {
  const { clock, probes, see, tries, changes } = probeWorld({ lastKnown: { ready: true, started: true } });
  see(anInstance('main', { startedAt: clock.now() - 60_000 }));
  probes.addPod(
    podWith({ startupProbe: probe('start'), readinessProbe: probe('ready'), livenessProbe: probe('live') }),
  );
  assert.equal(probes.results.ready('main', first), true);
  assert.equal(tries.length, 0);
  await clock.advance(60_000);
  assert.deepEqual(changes, []);
  assert.deepEqual(
    tries.filter((entry) => entry.startsWith('start')),
    [],
  );
  const [ready = '', live = ''] = tries.map((entry) => entry.split('@')[1]);
  assert.notEqual(ready, live, 'they begin at different times within the period');
});

test('after a restart a container that is no longer ready is found out by its threshold', async () => {
  const { clock, probes, see, answers, changes } = probeWorld({ lastKnown: { ready: true, started: true } });
  answers.set('ready', () => sick);
  see(anInstance('main', { startedAt: clock.now() - 60_000 }));
  probes.addPod(podWith({ readinessProbe: probe('ready', { periodSeconds: 1 }) }));
  await clock.advance(1_999);
  assert.equal(probes.results.ready('main', first), true);
  await clock.advance(2_000);
  assert.equal(probes.results.ready('main', first), false);
  assert.equal(changes.length, 1);
});

test('stopping the agent ends all probing and keeps what was found out', async () => {
  const { clock, probes, see, tries } = probeWorld();
  see(startsNow(clock));
  const pod = podWith({ readinessProbe: probe('ready') });
  await probes.start();
  probes.addPod(pod);
  await clock.advance(0);
  await probes.stop();
  see(startsNow(clock, { attempt: 1 }));
  probes.addPod(pod);
  probes.updatePod({ ...pod });
  assert.equal(probes.results.ready('main', first), true);
  assert.equal(probes.results.ready('main', second), true);
  await clock.advance(60_000);
  assert.deepEqual(tries, ['ready@0']);
  assert.equal(clock.pending(), 0);
});

test('a new version of the pod brings new numbers, and a probe that was removed ends', async () => {
  const { clock, probes, see, tries } = probeWorld();
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live'), readinessProbe: probe('ready') }));
  await clock.advance(0);
  const changed: DesiredPod = podWith({ livenessProbe: probe('live', { periodSeconds: 2 }) });
  probes.updatePod(changed);
  await clock.advance(14_000);
  assert.deepEqual(tries, ['ready@0', 'live@0', 'live@10000', 'live@12000', 'live@14000']);
});
