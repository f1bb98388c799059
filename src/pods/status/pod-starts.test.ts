import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { Pod, PodStatus } from '../../gen/kubernetes/types.ts';
import { configAnnotations } from '../../model/annotations.ts';
import { Registry } from '../../telemetry/index.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { covered, PodStarts } from './pod-starts.ts';

const uid = podUid('uid-1');

function setUp() {
  const [clock, registry] = [new FakeClock(), new Registry()];
  const starts = new PodStarts({ clock, metrics: registry });
  const made = clock.now();
  const aPod = (status: PodStatus, more: Partial<Pod> = {}): Pod => ({
    metadata: { uid, name: 'p', creationTimestamp: new Date(made).toISOString() },
    spec: { containers: [{ name: 'main' }] },
    ...more,
    status,
  });
  const running = (): PodStatus => ({
    phase: 'Running',
    startTime: at(1_000),
    containerStatuses: [{ name: 'main', image: '', imageID: '', ready: true, restartCount: 0, state: { running: {} } }],
  });
  const at = (ms: number): string => new Date(made + ms).toISOString();
  const figure = (name: string): string | undefined => new RegExp(`^${name} (.*)$`, 'm').exec(registry.render())?.[1];
  const sli = (): readonly (string | undefined)[] =>
    ['sum', 'count'].map((end) => figure(`kubelet_pod_start_sli_duration_seconds_${end}`));
  const total = (): string | undefined => figure('kubelet_pod_start_total_duration_seconds_sum');
  return { clock, starts, aPod, running, at, sli, total, figure };
}

test('a start is measured once, without pulls and init containers', async () => {
  const { clock, starts, aPod, running, at, sli, total, figure } = setUp();
  starts.observed(aPod({}));
  await clock.advance(1_000);
  starts.began(uid);
  await clock.advance(2_000);
  starts.ended(uid);
  starts.began(uid);
  await clock.advance(2_000);
  starts.ended(uid);
  starts.observed(aPod({ phase: 'Pending', startTime: at(1_000) }));
  await clock.advance(3_000);
  const init = {
    name: 'init',
    image: '',
    imageID: '',
    ready: true,
    restartCount: 0,
    // A second of it falls into the pulls.
    state: { terminated: { exitCode: 0, startedAt: at(4_000), finishedAt: at(6_000) } },
  };
  const status = { ...running(), initContainerStatuses: [init] };
  starts.observed(aPod(status));
  starts.observed(aPod(status));
  assert.equal(total(), '8');
  assert.deepEqual(sli(), ['3', '1'], '8 s without 1 to 6');
  assert.equal(figure('kubelet_first_network_pod_start_sli_duration_seconds'), '3');
});

test('one that had begun before is not measured, nor is a mirror, nor one that has ended', async () => {
  const { starts, aPod, running, at, sli } = setUp();
  starts.observed(aPod({ startTime: at(0) }));
  starts.observed(aPod(running()));
  const metadata = { uid, annotations: { [configAnnotations.mirror]: 'hash' }, creationTimestamp: at(0) };
  starts.observed(aPod({}, { metadata }));
  starts.observed(aPod(running(), { metadata }));
  starts.observed(aPod({}));
  starts.observed(aPod({ phase: 'Failed' }));
  starts.observed(aPod(running()));
  starts.observed(aPod({}));
  starts.forget(uid);
  starts.observed(aPod(running()));
  assert.deepEqual(sli(), ['0', '0']);
});

test('the first pod with a network of its own has a metric of its own', async () => {
  const { clock, starts, aPod, running, sli, figure } = setUp();
  const spec = { containers: [{ name: 'main' }], hostNetwork: true };
  starts.observed(aPod({}, { spec }));
  await clock.advance(1_000);
  starts.observed(aPod(running(), { spec }));
  assert.deepEqual(sli(), ['1', '1']);
  assert.equal(figure('kubelet_first_network_pod_start_sli_duration_seconds'), '0');
});

test('spans that overlap count once, and only within the whole', () => {
  const whole = { from: 10, to: 100 };
  assert.equal(covered([], whole), 0);
  assert.equal(covered([{ from: 0, to: 20 }], whole), 10);
  assert.equal(
    covered(
      [
        { from: 50, to: 70 },
        { from: 20, to: 60 },
        { from: 30, to: 40 },
        { from: 90, to: 200 },
      ],
      whole,
    ),
    60,
  );
});
