import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { aContainer, aPod } from '../../testing/pods.ts';
import { computeBackoffLimits, RestartBackoff, restartBackoffAnnotation } from './restart-backoff.ts';

const node = { initialMs: 10_000, maxMs: 300_000 };

describe('the annotation of a pod', () => {
  const cases: readonly (readonly [string | undefined, object])[] = [
    [undefined, { limits: node }],
    ['initial=1s,max=30s', { limits: { initialMs: 1_000, maxMs: 30_000 } }],
    ['max=5s', { limits: { initialMs: 5_000, maxMs: 5_000 } }],
    ['initial=20s', { limits: { initialMs: 20_000, maxMs: 300_000 } }],
    ['initial=100ms', { limits: node, problem: '"initial=100ms" is not between 1s and 5m' }],
    ['max=1h', { limits: node, problem: '"max=1h" is not between 1s and 5m' }],
    ['fast', { limits: node, problem: '"fast" is not of the form initial=DURATION or max=DURATION' }],
    ['initial=30s,max=2s', { limits: node, problem: 'initial is longer than max' }],
  ];
  for (const [annotation, expected] of cases) {
    test(String(annotation), () => assert.deepEqual(computeBackoffLimits(annotation, node), expected));
  }
});

test('waits double from each end, up to the limit, and are forgotten after a long good run', async () => {
  const clock = new FakeClock();
  const backoff = new RestartBackoff({ clock, limits: node });
  const pod = aPod();
  const container = aContainer('main');
  const delays: (number | undefined)[] = [];
  for (let round = 0; round < 8; round++) {
    const endedAt = clock.now();
    const waiting = backoff.waiting(pod, container, endedAt);
    delays.push(waiting?.delayMs);
    await clock.advance(waiting?.waitMs ?? 0);
    assert.equal(backoff.waiting(pod, container, endedAt), undefined);
    backoff.restarted(pod, container, endedAt);
  }
  assert.deepEqual(delays, [undefined, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  await clock.advance(600_001);
  assert.equal(backoff.waiting(pod, container, clock.now()), undefined);
  const other = aContainer('main', { image: 'localhost/other:1' });
  assert.equal(backoff.waiting(pod, other, clock.now()), undefined);
});

test('a pod may restart faster than the node does', async () => {
  const clock = new FakeClock();
  const problems: string[] = [];
  const backoff = new RestartBackoff({
    clock,
    limits: node,
    onProblem: (_pod, problem) => void problems.push(problem),
  });
  const eager = aPod({ metadata: { annotations: { [restartBackoffAnnotation]: 'initial=1s,max=2s' } } });
  const container = aContainer('main');
  backoff.restarted(eager, container, clock.now());
  assert.equal(backoff.waiting(eager, container, clock.now())?.waitMs, 1_000);
  const wrong = aPod({ uid: 'w', metadata: { annotations: { [restartBackoffAnnotation]: 'now' } } });
  backoff.restarted(wrong, container, clock.now());
  assert.equal(backoff.waiting(wrong, container, clock.now())?.waitMs, 10_000);
  assert.equal(problems.length, 1);
});
