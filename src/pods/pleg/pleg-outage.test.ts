import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { Registry } from '../../telemetry/registry.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod, runContainer, runSandbox, testImage } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { ObservedPods } from './observed-pods.ts';
import { Pleg } from './pleg.ts';

const pod = aPod();

async function running() {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  cri.images.add(testImage);
  const container = await runContainer(cri, pod, await runSandbox(cri, pod));
  const log = new MemoryLog();
  const observed = new ObservedPods({ runtime: cri });
  const changes: string[] = [];
  const onChange = (uid: string): void => void changes.push(uid);
  const pleg = new Pleg({
    eventSources: [],
    podsOnDisk: async () => [],
    metrics: new Registry(),
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log,
    runtime: cri,
    observed,
    onChange,
    relistPeriodMs: 1_000,
  });
  await pleg.start();
  await observed.inspect(pod.uid, new AbortController().signal);
  await clock.advance(90_000);
  changes.length = 0;
  return { clock, cri, container, log, pleg, changes };
}

test('while the runtime is away it goes on, and after its return it catches up', async () => {
  const { clock, cri, container, log, pleg, changes } = await running();
  cri.crash();
  await clock.advance(20_000);
  assert.deepEqual(changes, []);
  assert.equal(log.messages('error').length > 0, true);
  cri.killContainer(container);
  cri.restart();
  // A relist that failed is tried again within six seconds at most.
  await clock.advance(7_000);
  assert.deepEqual(changes, [pod.uid]);
  await pleg.stop();
});

test('relists that fail come less often, but at least every six seconds', async () => {
  const { clock, cri, pleg } = await running();
  cri.crash();
  await clock.advance(30_000);
  const failed = cri.calls.filter(({ verb }) => verb === 'listContainers').map(({ at }) => at);
  const gaps = failed
    .slice(-4)
    .map((at, n, all) => at - (all[n - 1] ?? at))
    .slice(1);
  assert.equal(
    gaps.every((gap) => gap > 1_000 && gap <= 7_000),
    true,
    gaps.join(', '),
  );
  await pleg.stop();
});

test('after the return events are followed again, soon even after many outages', async () => {
  const { clock, cri, container, pleg, changes } = await running();
  for (let outage = 0; outage < 8; outage++) {
    cri.crash();
    cri.restart();
    await clock.advance(1_001);
    assert.equal(cri.events.listeners(), 1, `after outage ${outage}`);
    await clock.advance(90_000);
  }
  changes.length = 0;
  cri.killContainer(container);
  await clock.settle();
  assert.deepEqual(changes, [pod.uid]);
  await pleg.stop();
});

test('without a relist for three minutes it is unhealthy, and reports for how long', async () => {
  const { clock, cri, pleg } = await running();
  const seen = pleg.lastRelist() ?? 0;
  assert.equal(clock.monotonic() - seen < 10_000, true);
  cri.crash();
  await clock.advanceTo(seen + 180_000);
  assert.equal(pleg.unhealthy(), undefined);
  await clock.advance(1);
  assert.equal(pleg.unhealthy(), 'pleg was last seen active 3m0.001s ago; threshold is 3m0s');
  await clock.advanceTo(seen + 245_500);
  assert.equal(pleg.unhealthy(), 'pleg was last seen active 4m5.5s ago; threshold is 3m0s');
  cri.restart();
  await clock.advance(7_000);
  assert.equal(pleg.unhealthy(), undefined);
  await pleg.stop();
});

test('a runtime that answers no listing makes it unhealthy too', async () => {
  const { clock, cri, pleg } = await running();
  cri.faults.hang('listContainers');
  await clock.advance(200_000);
  assert.match(pleg.unhealthy() ?? '', /^pleg was last seen active 3m/);
  await pleg.stop();
});
