import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod } from '../testing/pods.ts';
import { tooShort } from './delay.ts';
import { flushMs } from './final-flush.ts';
import { computePlan, planLines } from './plan.ts';
import { addProgress } from './progress-lines.ts';

test('a plan in words: groups without pods take no time', () => {
  const groups = [
    { priority: 0, seconds: 20 },
    { priority: 1_000, seconds: 10 },
    { priority: 2_000_000_000, seconds: 1 },
  ];
  const pods = [aPod({ uid: 'a', name: 'web' }), aPod({ uid: 'b', name: 'dns', spec: { priority: 2_000_000_000 } })];
  assert.deepEqual(planLines(computePlan(groups, pods)), [
    'priority 0 and above: 20 seconds, ends at once, by 20 s',
    '  default/web: 20 s of grace',
    'priority 1000 and above: 10 seconds, no pods, not waited for',
    'priority 2000000000 and above: 1 second, ends after at most 20 s, by 21 s',
    '  default/dns: 1 s of grace',
  ]);
});

test('the lines for the one who requested it', () => {
  const none = { lines: [] };
  const begun = addProgress(none, { kind: 'began', plan: [] });
  assert.deepEqual(begun, { lines: ['The node takes no new pods.'] });
  const late = { uid: aPod().uid, namespace: 'default', name: 'web', graceSeconds: 1 };
  const group = { priority: 0, tookMs: 1_260, late: [late] };
  const groupEnded = addProgress(begun, { kind: 'groupEnded', group });
  assert.equal(groupEnded.lines[1], 'priority 0 and above: over after 1.3 s, not in time: default/web');
  assert.deepEqual(addProgress(none, { kind: 'ended', unflushed: { pods: [late], node: false } }), {
    lines: ['The API server does not know of it, not of: default/web.', 'The machine may go down.'],
    end: 'incomplete',
  });
  assert.deepEqual(addProgress(none, { kind: 'ended', unflushed: { pods: [], node: true } }).end, 'incomplete');
  assert.deepEqual(addProgress(none, { kind: 'ended', unflushed: { pods: [], node: false } }).end, 'done');
  assert.deepEqual(addProgress(none, { kind: 'calledOff' }).end, 'calledOff');
});

test('last words take what is left of the time, within bounds', () => {
  assert.deepEqual([-5_000, 0, 3_000, 60_000].map(flushMs), [2_000, 2_000, 3_000, 10_000]);
});

test('a delay that is granted as it is needed is long enough', () => {
  assert.equal(tooShort(30, 30_000), undefined);
  assert.equal(tooShort(30, Number(2n ** 64n) / 1_000), undefined);
  assert.match(
    tooShort(90, 5_000) ?? '',
    /to 1m30s \(ShutdownGracePeriod\), current value of InhibitDelayMaxSec \(5s\)/,
  );
});
