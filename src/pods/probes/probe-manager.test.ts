import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../base/clock.ts';
import { containerId, podUid } from '../../base/ids.ts';
import { silentLog } from '../../base/log.ts';
import type { Container, Probe } from '../../gen/kubernetes/types.ts';
import type { DesiredPod } from '../../model/desired-pod.ts';
import type { ObservedContainer, ObservedPod } from '../../model/observed-pod.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aContainer, anInstance, aPod, aSandbox, exited, observedPod } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import type { LastKnown, ProbeOutcome, ProbeTarget } from './ports.ts';
import { ProbeManager } from './probe-manager.ts';

const uid = podUid('uid-1');
const ok: ProbeOutcome = { kind: 'success', output: '' };
const sick: ProbeOutcome = { kind: 'failure', output: 'sick' };

type Answer = (target: ProbeTarget, signal: AbortSignal) => ProbeOutcome | Promise<ProbeOutcome>;

interface World {
  readonly clock: FakeClock;
  readonly probes: ProbeManager;
  /** What was tried and when, since the world began: `live@0`. */
  readonly tries: string[];
  readonly events: string[];
  readonly measured: string[];
  readonly changes: string[];
  /** What each kind of probe answers; `ok` unless set. */
  readonly answers: Map<string, Answer>;
  /** Time goes on without the event loop. */
  stall(ms: number): void;
  see(...containers: readonly ObservedContainer[]): void;
}

interface WorldOptions {
  readonly lastKnown?: LastKnown;
  readonly podIp?: string;
}

function world(options: WorldOptions = {}): World {
  const clock = new FakeClock();
  const began = clock.monotonic();
  const pods = new Map<string, ObservedPod>();
  const tries: string[] = [];
  const events: string[] = [];
  const measured: string[] = [];
  const changes: string[] = [];
  const answers = new Map<string, Answer>();
  let stalled = 0;
  const lagging: Clock = {
    now: () => clock.now() + stalled,
    monotonic: () => clock.monotonic() + stalled,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    after: (ms, callback) => clock.after(ms, callback),
  };
  const probes = new ProbeManager({
    clock: lagging,
    random: seededRandom(1),
    log: silentLog,
    prober: async (target, signal) => {
      const kind = target.probe.exec?.command?.[0] ?? '?';
      tries.push(`${kind}@${Math.round(clock.monotonic() - began)}`);
      return (answers.get(kind) ?? (() => ok))(target, signal);
    },
    observations: { get: (of) => pods.get(of), podIp: () => options.podIp ?? '10.0.0.2' },
    events: { record: (_pod, event) => events.push(`${event.reason} ${event.message} ${event.fieldPath}`) },
    metrics: { observe: (type, result, pod, container) => measured.push(`${type} ${result} ${pod.name}/${container}`) },
    lastKnown: () => options.lastKnown,
    onChange: (of) => changes.push(`${of}@${Math.round(clock.monotonic() - began)}`),
  });
  return {
    clock,
    probes,
    tries,
    events,
    measured,
    changes,
    answers,
    stall: (ms) => void (stalled += ms),
    see: (...containers) => void pods.set(uid, observedPod([aSandbox('s0')], containers)),
  };
}

const probe = (kind: string, more: Partial<Probe> = {}): Probe => ({ exec: { command: [kind] }, ...more });

function podWith(container: Partial<Container>, more: { readonly deleted?: boolean; readonly policy?: string } = {}) {
  return aPod({
    ...(more.deleted === true && { metadata: { deletionTimestamp: '2025-01-01T00:00:00Z' } }),
    spec: { containers: [aContainer('main', container)], restartPolicy: more.policy ?? 'Always' },
  });
}

/** An instance that starts now, after the agent. */
const startsNow = (clock: FakeClock, more: Parameters<typeof anInstance>[1] = {}): ObservedContainer =>
  anInstance('main', { startedAt: clock.now(), ...more });

const first = containerId('main-0');
const second = containerId('main-1');

test('a pod without probes costs nothing', () => {
  const { clock, probes, see } = world();
  see(startsNow(clock));
  probes.addPod(aPod());
  probes.addPod(aPod({ uid: 'uid-2', spec: { initContainers: [aContainer('i', { livenessProbe: probe('live') })] } }));
  assert.equal(clock.pending(), 0);
  assert.equal(probes.results.ready('main', first), true);
});

test('the first try comes at once, then one each period, with one timer per probe', async () => {
  const { clock, probes, see, tries, events } = world();
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
  const { clock, probes, see, tries } = world();
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

test('a container that nobody announced is found by the look behind', async () => {
  const { clock, probes, see, tries } = world();
  probes.addPod(podWith({ livenessProbe: probe('live') }));
  see(startsNow(clock));
  await clock.advance(10_000);
  assert.deepEqual(tries, ['live@10000']);
});

test('nobody is ready or started for a moment because its worker has not looked yet', () => {
  const { clock, probes, see } = world();
  probes.addPod(podWith({ readinessProbe: probe('ready'), startupProbe: probe('start') }));
  see(startsNow(clock));
  assert.equal(probes.results.ready('main', first), false);
  assert.equal(probes.results.started('main', first), false);
  assert.equal(probes.results.startup(first), 'unknown');
  assert.equal(probes.results.liveness(first), 'success');
});

test('the initial delay is kept to the millisecond', async () => {
  const { clock, probes, see, tries } = world();
  see(startsNow(clock));
  await clock.advance(1_500);
  probes.addPod(podWith({ livenessProbe: probe('live', { initialDelaySeconds: 4 }) }));
  await clock.advance(3_000);
  assert.deepEqual(tries, ['live@4000']);
});

test('liveness: failures below the threshold change nothing, at the threshold the pod is told, then no more tries', async () => {
  const { clock, probes, see, answers, tries, events, changes, measured } = world();
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
  const { clock, probes, see, answers, changes } = world();
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
  const { clock, probes, see, answers, tries, changes } = world();
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
  const { clock, probes, see, answers, tries, changes } = world();
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
  const { clock, probes, see, answers, tries, events, measured, changes } = world();
  answers.set('ready', () => (clock.monotonic() < 600 ? sick : ok));
  see(startsNow(clock));
  probes.addPod(podWith({ readinessProbe: probe('ready') }));
  await clock.advance(10_000);
  assert.deepEqual(tries, ['ready@0', 'ready@100', 'ready@300', 'ready@700', 'ready@10000']);
  assert.deepEqual(events, ['Unhealthy Readiness probe failed: sick spec.containers{main}']);
  assert.deepEqual(measured, ['Readiness failed web/main', ...Array(2).fill('Readiness successful web/main')]);
  assert.deepEqual(changes, ['uid-1@700']);
});

test('errors are told but change nothing', async () => {
  const { clock, probes, see, answers, events, changes } = world();
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
  const { clock, probes, see, answers, tries, events } = world();
  answers.set('live', () => Promise.reject(new Error('broken')));
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live', { periodSeconds: 1 }), readinessProbe: probe('ready') }));
  await clock.advance(1_000);
  assert.deepEqual(tries, ['ready@0', 'live@0', 'live@1000']);
  assert.match(events[0] ?? '', /resulted in unknown state: broken/);
});

test('sidecars are probed, and their events say that they are init containers', async () => {
  const { clock, probes, see, answers, events } = world();
  answers.set('live', () => sick);
  see(anInstance('side', { startedAt: clock.now() }));
  const sidecar = aContainer('side', { restartPolicy: 'Always', livenessProbe: probe('live') });
  probes.addPod(aPod({ spec: { initContainers: [sidecar], restartPolicy: 'Never' } }));
  await clock.advance(0);
  assert.deepEqual(events, ['Unhealthy Liveness probe failed: sick spec.initContainers{side}']);
});

test('silence while our own loop stalled is no failure, and is asked again soon', async () => {
  const { clock, probes, see, answers, tries, events, stall } = world();
  const silence: ProbeOutcome = { kind: 'failure', output: 'timeout', unanswered: true };
  answers.set('live', async () => {
    stall(500);
    return silence;
  });
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live', { failureThreshold: 1 }) }));
  await clock.advance(1_500);
  assert.deepEqual(tries, ['live@0', 'live@1000']);
  assert.deepEqual(events, []);
  assert.equal(probes.results.liveness(first), 'success');
  answers.set('live', () => silence);
  await clock.advance(1_500);
  assert.equal(probes.results.liveness(first), 'failure', 'now we listened');
});

test('a try that began late because of us is judged the same way', async () => {
  const { clock, probes, see, answers, events, stall } = world();
  answers.set('live', () => ({ kind: 'failure', output: 'timeout', unanswered: true }));
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live', { failureThreshold: 1 }) }));
  stall(300);
  await clock.advance(0);
  assert.deepEqual(events, []);
  assert.equal(probes.results.liveness(first), 'success');
});

test('deletion: liveness and startup end well, readiness goes on', async () => {
  const { clock, probes, see, answers, tries } = world();
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
  assert.equal(probes.results.startup(first), 'success');
  await clock.advance(2_000);
  assert.deepEqual(tries, ['start@0', 'ready@500', 'ready@1500', 'ready@2500']);
  assert.equal(probes.results.ready('main', first), true);
});

test('stopLivenessAndStartup does the same, also to a try under way', async () => {
  const { clock, probes, see, answers, changes } = world();
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
  const { clock, probes, see, answers, events } = world();
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

test('a container that ends for good is not probed again, and its worker is not made anew', async () => {
  const { clock, probes, see, tries } = world();
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

test('a try whose container ended meanwhile says nothing', async () => {
  const { clock, probes, see, answers, events } = world();
  answers.set('live', () => clock.sleep(800).then(() => ({ kind: 'error', state: 'unknown', error: 'no process' })));
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live') }));
  await clock.advance(500);
  see(startsNow(clock, exited(1)));
  await clock.advance(500);
  assert.deepEqual(events, []);
});

test('a new instance gives up the try on the old one', async () => {
  const { clock, probes, see, answers, tries, events } = world();
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
  const { clock, probes, see, tries, changes } = world({ lastKnown: { ready: true, started: true } });
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
  const { clock, probes, see, answers, changes } = world({ lastKnown: { ready: true, started: true } });
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
  const { clock, probes, see, tries } = world();
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

test('a new version of the pod brings new numbers, and a probe that is gone ends', async () => {
  const { clock, probes, see, tries } = world();
  see(startsNow(clock));
  probes.addPod(podWith({ livenessProbe: probe('live'), readinessProbe: probe('ready') }));
  await clock.advance(0);
  const changed: DesiredPod = podWith({ livenessProbe: probe('live', { periodSeconds: 2 }) });
  probes.updatePod(changed);
  await clock.advance(14_000);
  assert.deepEqual(tries, ['ready@0', 'live@0', 'live@10000', 'live@12000', 'live@14000']);
});
