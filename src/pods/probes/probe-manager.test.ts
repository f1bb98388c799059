import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProbeOutcome } from './ports.ts';
import { aContainer, anInstance, aPod, exited } from '../../testing/pods.ts';
import { first, ok, podWith, probe, probeWorld, second, sick, startsNow } from '../../testing/probe-world.ts';

test('a pod without probes costs nothing', () => {
  const { clock, probes, see } = probeWorld();
  see(startsNow(clock));
  probes.addPod(aPod());
  probes.addPod(aPod({ uid: 'uid-2', spec: { initContainers: [aContainer('i', { livenessProbe: probe('live') })] } }));
  assert.equal(clock.pending(), 0);
  assert.equal(probes.results.ready('main', first), true);
});

test('the first try comes at once, then one each period, with one timer per probe', async () => {
  const { clock, probes, see, tries, events } = probeWorld();
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live', { periodSeconds: 5 }), readinessProbe: probe('ready') }));
  assert.equal(clock.pending(), 2);
  await clock.advance(20_000);
  assert.deepEqual(tries, [
    'ready@0',
    'live@0',
    'live@5000',
    'ready@10000',
    'live@10000',
    'live@15000',
    'ready@20000',
    'live@20000',
  ]);
  assert.equal(clock.pending(), 2);
  assert.deepEqual(events, []);
});

test('a container that comes up later is tried as soon as it is seen', async () => {
  const { clock, probes, see, tries } = probeWorld();
  const pod = podWith({ readinessProbe: probe('ready') });
  probes.addPod(pod);
  await clock.advance(3_000);
  see(startsNow(clock));
  probes.updatePod(pod);
  await clock.settle();
  assert.equal(probes.results.ready('main', first), false);
  await clock.advance(0);
  assert.deepEqual(tries, ['ready@3000']);
  assert.equal(probes.results.ready('main', first), true);
});

test('a container that no event announced is found by the resync', async () => {
  const { clock, probes, see, tries } = probeWorld();
  probes.addPod(podWith({ livenessProbe: probe('live') }));
  see(startsNow(clock));
  await clock.advance(10_000);
  assert.deepEqual(tries, ['live@10000']);
});

test('no container is ready or started for a moment because its worker has not seen it yet', () => {
  const { clock, probes, see } = probeWorld();
  probes.addPod(podWith({ readinessProbe: probe('ready'), startupProbe: probe('start') }));
  see(startsNow(clock));
  assert.equal(probes.results.ready('main', first), false);
  assert.equal(probes.results.started('main', first), false);
  assert.equal(probes.results.startup(first), 'unknown');
  assert.equal(probes.results.liveness(first), 'success');
});

test('the initial delay is kept to the millisecond', async () => {
  const { clock, probes, see, tries } = probeWorld();
  see(startsNow(clock));
  await clock.advance(1_500);
  probes.addPod(podWith({ livenessProbe: probe('live', { initialDelaySeconds: 4 }) }));
  await clock.advance(3_000);
  assert.deepEqual(tries, ['live@4000']);
});

test('liveness: failures below the threshold change nothing, at the threshold the pod is woken, then no more tries', async () => {
  const { clock, probes, see, answers, tries, events, changes, measured } = probeWorld();
  answers.set('live', () => sick);
  see(startsNow(clock));
  const pod = podWith({ livenessProbe: probe('live', { periodSeconds: 1 }) });
  probes.addPod(pod);
  await clock.advance(1_999);
  assert.equal(probes.results.liveness(first), 'success');
  await clock.advance(10_000);
  assert.equal(probes.results.liveness(first), 'failure');
  assert.deepEqual(tries, ['live@0', 'live@1000', 'live@2000']);
  assert.deepEqual(changes, ['uid-1@2000']);
  assert.deepEqual(events, Array(3).fill('Unhealthy Liveness probe failed: sick spec.containers{main}'));
  assert.deepEqual(measured, Array(3).fill('Liveness failed web/main'));

  see(startsNow(clock, { attempt: 1 }), anInstance('main', exited(137)));
  probes.updatePod(pod);
  assert.equal(probes.results.liveness(second), 'success');
  await clock.advance(0);
  assert.equal(tries.at(-1), 'live@11999');
  assert.equal(probes.results.size, 1, 'the old instance is forgotten');
});

test('readiness flips both ways and each flip is announced', async () => {
  const { clock, probes, see, answers, changes } = probeWorld();
  see(startsNow(clock));
  probes.addPod(podWith({ readinessProbe: probe('ready', { periodSeconds: 1 }) }));
  await clock.advance(500);
  assert.equal(probes.results.ready('main', first), true);
  answers.set('ready', () => sick);
  await clock.advance(2_000);
  assert.equal(probes.results.ready('main', first), true);
  await clock.advance(1_000);
  assert.equal(probes.results.ready('main', first), false);
  answers.set('ready', () => ok);
  await clock.advance(1_000);
  assert.deepEqual(changes, ['uid-1@0', 'uid-1@3000', 'uid-1@4000']);
});

test('startup gates the others, and its success lets them begin at once', async () => {
  const { clock, probes, see, answers, tries, changes } = probeWorld();
  let up = false;
  answers.set('start', () => (up ? ok : sick));
  see(startsNow(clock));
  probes.addPod(
    podWith({
      startupProbe: probe('start', { periodSeconds: 1, failureThreshold: 30 }),
      livenessProbe: probe('live'),
      readinessProbe: probe('ready'),
    }),
  );
  await clock.advance(2_500);
  assert.equal(probes.results.started('main', first), false);
  up = true;
  await clock.advance(600);
  assert.deepEqual(tries, ['start@0', 'start@1000', 'start@2000', 'start@3000', 'ready@3000', 'live@3000']);
  assert.equal(probes.results.ready('main', first), true);
  assert.deepEqual(changes, ['uid-1@3000', 'uid-1@3000']);
  await clock.advance(120_000);
  assert.equal(tries.filter((entry) => entry.startsWith('start')).length, 4, 'a startup probe that succeeded is done');
});

test('a startup probe that fails for good is announced, and nothing else is ever tried', async () => {
  const { clock, probes, see, answers, tries, changes } = probeWorld();
  answers.set('start', () => sick);
  see(startsNow(clock));
  const startupProbe = probe('start', { periodSeconds: 1, failureThreshold: 2 });
  probes.addPod(podWith({ startupProbe, livenessProbe: probe('live') }));
  await clock.advance(60_000);
  assert.equal(probes.results.startup(first), 'failure');
  assert.deepEqual(tries, ['start@0', 'start@1000']);
  assert.deepEqual(changes, ['uid-1@1000']);
});

test('early tries of readiness: no events, no count, and the first success is believed at once', async () => {
  const { clock, probes, see, answers, tries, events, measured, changes } = probeWorld();
  answers.set('ready', () => (clock.monotonic() < 600 ? sick : ok));
  see(startsNow(clock));
  probes.addPod(podWith({ readinessProbe: probe('ready') }));
  await clock.advance(10_000);
  assert.deepEqual(tries, ['ready@0', 'ready@100', 'ready@300', 'ready@700', 'ready@10000']);
  assert.deepEqual(events, ['Unhealthy Readiness probe failed: sick spec.containers{main}']);
  assert.deepEqual(measured, ['Readiness failed web/main', ...Array(2).fill('Readiness successful web/main')]);
  assert.deepEqual(changes, ['uid-1@700']);
});

test('errors are recorded but change nothing', async () => {
  const { clock, probes, see, answers, events, changes } = probeWorld();
  answers.set('live', () => ({ kind: 'error', state: 'unknown', error: 'no such port' }));
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live', { periodSeconds: 1, failureThreshold: 1 }) }));
  await clock.advance(2_000);
  const message = 'Liveness probe errored and resulted in unknown state: no such port';
  assert.deepEqual(events, Array(3).fill(`Unhealthy ${message} spec.containers{main}`));
  assert.equal(probes.results.liveness(first), 'success');
  assert.deepEqual(changes, []);
});

test('a prober that throws is an error of that probe alone', async () => {
  const { clock, probes, see, answers, tries, events } = probeWorld();
  answers.set('live', () => Promise.reject(new Error('broken')));
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live', { periodSeconds: 1 }), readinessProbe: probe('ready') }));
  await clock.advance(1_000);
  assert.deepEqual(tries, ['ready@0', 'live@0', 'live@1000']);
  assert.match(events[0] ?? '', /resulted in unknown state: broken/);
});

test('sidecars are probed, and their events say that they are init containers', async () => {
  const { clock, probes, see, answers, events } = probeWorld();
  answers.set('live', () => sick);
  see(anInstance('side', { startedAt: clock.now() }));
  const sidecar = aContainer('side', { restartPolicy: 'Always', livenessProbe: probe('live') });
  probes.addPod(aPod({ spec: { initContainers: [sidecar], restartPolicy: 'Never' } }));
  await clock.advance(0);
  assert.deepEqual(events, ['Unhealthy Liveness probe failed: sick spec.initContainers{side}']);
});

test('an unanswered try while the event loop stalled is no failure, and is tried again soon', async () => {
  const { clock, probes, see, answers, tries, events, stall } = probeWorld();
  const unanswered: ProbeOutcome = { kind: 'failure', output: 'timeout', unanswered: true };
  answers.set('live', async () => {
    stall(500);
    return unanswered;
  });
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live', { failureThreshold: 1 }) }));
  await clock.advance(1_500);
  assert.deepEqual(tries, ['live@0', 'live@1000']);
  assert.deepEqual(events, []);
  assert.equal(probes.results.liveness(first), 'success');
  answers.set('live', () => unanswered);
  await clock.advance(1_500);
  assert.equal(probes.results.liveness(first), 'failure', 'now we listened');
});

test('a try that the agent began late counts the same way', async () => {
  const { clock, probes, see, answers, events, stall } = probeWorld();
  answers.set('live', () => ({ kind: 'failure', output: 'timeout', unanswered: true }));
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live', { failureThreshold: 1 }) }));
  stall(300);
  await clock.advance(0);
  assert.deepEqual(events, []);
  assert.equal(probes.results.liveness(first), 'success');
});

test('changes of what is in force are recorded, tries are not', async () => {
  const { clock, probes, see, answers, decisions } = probeWorld();
  see(startsNow(clock));
  answers.set('live', () => sick);
  probes.addPod(podWith({ livenessProbe: probe('live', { periodSeconds: 5 }), readinessProbe: probe('ready') }));
  await clock.advance(9_000);
  assert.deepEqual(decisions.take(), ['uid-1/main probe ReadinessProbeSucceeded: the Readiness probe succeeded']);
  await clock.advance(20_000);
  assert.deepEqual(decisions.take(), ['uid-1/main probe LivenessProbeFailed: the last answer was: sick']);
});
