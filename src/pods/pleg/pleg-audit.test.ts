import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { podUid } from '../../base/ids.ts';
import { Registry } from '../../telemetry/index.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod, runContainer, runSandbox, testImage } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { ObservedPods } from './observed-pods.ts';
import { Pleg } from './pleg.ts';

const never = new AbortController().signal;
const pods = ['uid-1', 'uid-2', 'uid-3'].map((uid) => aPod({ uid, name: uid }));

/** An idle node with a stream, at the maximum period. */
async function relaxed() {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  const containers: string[] = [];
  for (const pod of pods) containers.push(await runContainer(cri, pod, await runSandbox(cri, pod)));
  const observed = new ObservedPods({ runtime: cri });
  const metrics = new Registry();
  const changes: string[] = [];
  const onChange = (uid: (typeof pods)[number]['uid']): void => {
    changes.push(uid);
    void observed.inspect(uid, never);
  };
  const log = new MemoryLog();
  const random = seededRandom(1);
  const pleg = new Pleg({
    eventSources: [],
    podsOnDisk: async () => [],
    heartbeats: new Heartbeats(),
    clock,
    random,
    log,
    runtime: cri,
    observed,
    onChange,
    relistPeriodMs: 1_000,
    metrics,
  });
  await pleg.start();
  await clock.advance(26_000);
  changes.length = 0;
  const kill = (index: number): void => cri.killContainer(containers[index] ?? '');
  return { clock, cri, pleg, observed, changes, kill, metrics };
}

/** When the next relists come, in seconds from now. */
async function nextRelists(clock: FakeClock, pleg: Pleg, count: number): Promise<number[]> {
  const from = clock.monotonic();
  const relists: number[] = [];
  let seen = pleg.lastRelist();
  while (relists.length < count) {
    await clock.settle();
    if (seen === pleg.lastRelist()) await clock.advanceTo(clock.nextDue() ?? clock.monotonic());
    const last = pleg.lastRelist();
    if (last !== undefined && last !== seen) relists.push((last - from) / 1_000);
    seen = last;
  }
  return relists;
}

test('events that miss nothing leave the period as it is', async () => {
  const { clock, pleg, changes, kill } = await relaxed();
  assert.equal(pleg.streamHealthy(), true);
  kill(0);
  assert.deepEqual(await nextRelists(clock, pleg, 3), [10, 20, 30]);
  assert.deepEqual(changes, ['uid-1']);
  await pleg.stop();
});

test('a missed change is found by the audit, which then comes every second until the stream sends an event', async () => {
  const { clock, cri, pleg, changes, kill } = await relaxed();
  cri.events.loseNext(1);
  kill(0);
  assert.deepEqual(await nextRelists(clock, pleg, 4), [10, 11, 12, 13]);
  assert.deepEqual(changes, ['uid-1']);
  assert.equal(pleg.streamHealthy(), false, 'a stream that missed something is not relied upon');
  kill(1);
  assert.deepEqual(await nextRelists(clock, pleg, 4), [1, 3, 7, 15]);
  assert.equal(pleg.streamHealthy(), true);
  assert.deepEqual(changes, ['uid-1', 'uid-2']);
  await pleg.stop();
});

test('an earlier event of a pod does not excuse a change that is missed later', async () => {
  const { clock, cri, pleg, changes, kill } = await relaxed();
  kill(0);
  await nextRelists(clock, pleg, 2);
  assert.equal(pleg.streamHealthy(), true);
  cri.events.loseNext(1);
  cri.killSandbox([...cri.state.sandboxes.keys()][0] ?? '');
  await nextRelists(clock, pleg, 1);
  assert.deepEqual(changes, ['uid-1', 'uid-1']);
  assert.equal(pleg.streamHealthy(), false);
  await pleg.stop();
});

test('a stream that breaks brings the relist forward; one that is back has to cover a relist before it counts', async () => {
  const { clock, cri, pleg } = await relaxed();
  await clock.advance(5_000);
  cri.events.breakStreams();
  // At once, for events may have been lost. The stream is back after a second or two.
  assert.deepEqual(await nextRelists(clock, pleg, 6), [0, 1, 2, 3, 5, 9]);
  assert.equal(pleg.streamHealthy(), true);
  await pleg.stop();
});

test('a relist that fails is followed by one as soon as without a stream', async () => {
  const { clock, cri, pleg } = await relaxed();
  cri.faults.fail('listContainers', 'unavailable', { times: 1 });
  const [first = 0, second = 0] = await nextRelists(clock, pleg, 2);
  assert.ok(first > 10.9 && first < 12.1, `after the failed one at 10: ${first}`);
  assert.ok(second - first <= 2);
  await pleg.stop();
});

test('a listing that is older than an inspection says nothing about the stream', async () => {
  const { clock, cri, pleg, observed, kill } = await relaxed();
  cri.events.loseNext(1);
  cri.faults.delay('listPodSandbox', 100, { times: 1 });
  await clock.advance(10_050);
  // The relist has its list of containers already and waits for the sandboxes. What comes now is not in it.
  kill(0);
  assert.equal((await observed.inspect(podUid('uid-1'), never)).containers[0]?.state, 'exited');
  await clock.advance(50);
  assert.equal(pleg.lastRelist(), clock.monotonic() - 100);
  assert.equal(pleg.streamHealthy(), true);
  assert.equal(observed.get(podUid('uid-1'))?.containers[0]?.state, 'exited');
  assert.deepEqual(await nextRelists(clock, pleg, 1), [10]);
  await pleg.stop();
});

test('a stream counts as healthy when it was not refused for a second, or sent an event', async () => {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  const observed = new ObservedPods({ runtime: cri });
  const log = new MemoryLog();
  const deps = {
    clock,
    random: seededRandom(1),
    log,
    runtime: cri,
    observed,
    heartbeats: new Heartbeats(),
    onChange: () => {},
    relistPeriodMs: 1_000,
    metrics: new Registry(),
    eventSources: [],
    podsOnDisk: async () => [],
  };
  const pleg = new Pleg(deps);
  assert.equal(pleg.streamHealthy(), false);
  await pleg.start();
  await clock.advance(999);
  assert.equal(pleg.streamHealthy(), false);
  await clock.advance(1);
  assert.equal(pleg.streamHealthy(), true);
  cri.events.breakStreams();
  await clock.settle();
  assert.equal(pleg.streamHealthy(), false);
  await clock.advance(1_500);
  assert.equal(pleg.streamHealthy(), false, 'opened again, not for long');
  await runSandbox(cri, aPod());
  await clock.settle();
  assert.equal(pleg.streamHealthy(), true);
  await pleg.stop();
});

test('a runtime without events never counts as healthy', async () => {
  const { clock, cri, pleg } = await relaxed();
  cri.events.supported = false;
  cri.events.breakStreams();
  await clock.advance(30_000);
  assert.equal(pleg.streamHealthy(), false);
  assert.deepEqual(await nextRelists(clock, pleg, 2), [1, 2]);
  await pleg.stop();
});

test('relists are counted', async () => {
  const { clock, pleg, metrics } = await relaxed();
  const text = metrics.render();
  // At 0, 1, 2, 4, 8, 16 and 26 seconds.
  assert.match(text, /^kubelet_pleg_relist_duration_seconds_count 7$/m);
  assert.match(text, /^kubelet_pleg_relist_interval_seconds_count 6$/m);
  assert.match(text, /^kubelet_pleg_relist_interval_seconds_bucket\{le="1"\} 2$/m);
  assert.match(text, /^kubelet_pleg_relist_interval_seconds_sum 26$/m);
  assert.match(text, /^kubelet_pleg_discard_events 0$/m);
  const seen = Number(/^kubelet_pleg_last_seen_seconds (.*)$/m.exec(text)?.[1]);
  assert.equal(seen, Math.floor(clock.now() / 1_000));
  await pleg.stop();
});
