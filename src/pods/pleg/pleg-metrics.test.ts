import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { Registry } from '../../telemetry/index.ts';
import { createFakeCri } from '../../testing/fake-cri/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { aPod, runSandbox } from '../../testing/pods.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { fromContainerd, fromCri } from './event-sources.ts';
import { ObservedPods } from './observed-pods.ts';
import { Pleg } from './pleg.ts';
import { ContainerEventResponse } from '../../gen/cri/api.ts';

function setUp() {
  const clock = new FakeClock();
  const cri = createFakeCri({ clock });
  const registry = new Registry();
  const pleg = new Pleg({
    eventSources: [],
    podsOnDisk: async () => [],
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log: new MemoryLog(),
    runtime: cri,
    observed: new ObservedPods({ runtime: cri }),
    onChange: () => {},
    relistPeriodMs: 1_000,
    metrics: registry,
  });
  const figure = (name: string): string | undefined =>
    new RegExp(`^kubelet_evented_pleg_connection_${name} (.*)$`, 'm').exec(registry.render())?.[1];
  return { clock, cri, pleg, figure };
}

test('a stream counts once it has sent an event, and when it breaks', async () => {
  const { clock, cri, pleg, figure } = setUp();
  await pleg.start();
  await clock.settle();
  assert.deepEqual([figure('success_count'), figure('error_count')], ['0', '0']);
  await runSandbox(cri, aPod());
  await clock.settle();
  assert.equal(figure('success_count'), '1');
  assert.ok(Number(figure('latency_seconds_count')) > 0);
  cri.events.breakStreams();
  await clock.settle();
  assert.deepEqual([figure('success_count'), figure('error_count')], ['1', '1']);
  await pleg.stop();
  assert.equal(figure('error_count'), '1', 'our own end is no failure');
});

test('a stream without an event counts all the same', async () => {
  const { clock, cri, pleg, figure } = setUp();
  await pleg.start();
  await clock.advance(5_000);
  cri.events.breakStreams();
  await clock.settle();
  assert.deepEqual([figure('success_count'), figure('error_count')], ['1', '1']);
  await pleg.stop();
});

test('a runtime without streams has not failed', async () => {
  const { clock, cri, pleg, figure } = setUp();
  cri.events.supported = false;
  await pleg.start();
  await clock.advance(5_000);
  assert.deepEqual([figure('success_count'), figure('error_count')], ['0', '0']);
  await pleg.stop();
});

test('events carry when it happened, where the runtime says', () => {
  assert.equal(fromCri(ContainerEventResponse.fromPartial({ containerId: 'c', createdAt: 1_500_000_000n }))?.at, 1_500);
  assert.equal('at' in (fromCri(ContainerEventResponse.fromPartial({ containerId: 'c' })) ?? {}), false);
  assert.equal(fromContainerd({ kind: 'started', containerId: 'c', at: 7 }).at, 7);
});
