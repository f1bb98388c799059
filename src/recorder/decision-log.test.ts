import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '../model/decisions.ts';
import { DecisionLog } from './decision-log.ts';

const limits = { entries: 5, bytes: 10_000 };

const decided = (reason: string, more: Partial<Decision> = {}): Decision => ({
  kind: 'retry',
  by: 'pod-worker',
  reason,
  message: reason.toLowerCase(),
  ...more,
});

const inShort = (log: DecisionLog): string[] =>
  log.all().map(({ reason, count, firstAt, lastAt }) => `${reason}×${count} ${firstAt}–${lastAt}`);

test('the same decision again is counted, with the first and the last time', () => {
  const log = new DecisionLog(limits);
  log.add(decided('A', { inputs: { try: 1 } }), 1_000);
  log.add(decided('A', { inputs: { try: 2 } }), 2_000);
  log.add(decided('A', { inputs: { try: 3 } }), 3_000);
  assert.deepEqual(inShort(log), ['A×3 1000–3000']);
  assert.deepEqual(log.last()?.inputs, { try: 3 }, 'those of the last one');
});

test('another message, container or reason is another decision', () => {
  const log = new DecisionLog(limits);
  log.add(decided('A'), 1);
  log.add(decided('A', { message: 'for another reason' }), 2);
  log.add(decided('A', { containerName: 'web' }), 3);
  log.add(decided('B'), 4);
  assert.equal(log.all().length, 4);
});

test('a loop of several decisions is folded, the last one last', () => {
  const log = new DecisionLog(limits);
  for (let round = 0; round < 3_600; round++) {
    log.add(decided('Start'), 10 * round);
    log.add(decided('BackOff'), 10 * round + 5);
  }
  assert.deepEqual(inShort(log), ['Start×3600 0–35990', 'BackOff×3600 5–35995']);
});

test('a wait that is worked out anew for the same moment is no new try', () => {
  const log = new DecisionLog(limits);
  log.add(decided('BackOff', { nextTryInMs: 10_000 }), 1_000);
  log.add(decided('BackOff', { nextTryInMs: 7_000 }), 4_000);
  assert.deepEqual(inShort(log), ['BackOff×1 1000–4000']);
  assert.equal(log.last()?.nextTryAt, 11_000);
  log.add(decided('BackOff', { nextTryInMs: 10_000 }), 12_000);
  assert.deepEqual(inShort(log), ['BackOff×2 1000–12000']);
  assert.equal(log.last()?.nextTryAt, 22_000);
});

test('a wait that goes on is one wait; one after something else is another', () => {
  const log = new DecisionLog(limits);
  const wait = decided('PodInitializing', { kind: 'wait' });
  for (const time of [1, 2, 3]) log.add(wait, time);
  assert.deepEqual(inShort(log), ['PodInitializing×1 1–3']);
  log.add(decided('Restarted'), 4);
  log.add(wait, 5);
  assert.deepEqual(inShort(log), ['Restarted×1 4–4', 'PodInitializing×2 1–5']);
});

test('what changes its words every time does not push out what came before', () => {
  const log = new DecisionLog(limits);
  log.add(decided('Admitted'), 1);
  log.add(decided('VolumesNotReady'), 2);
  for (let time = 3; time < 100; time++) log.add(decided('Failed', { message: `task ${time} failed` }), time);
  assert.deepEqual(
    log.all().map(({ message }) => message),
    ['admitted', 'volumesnotready', 'task 97 failed', 'task 98 failed', 'task 99 failed'],
  );
  assert.equal(log.dropped, 94);
});

test('where all are different the oldest goes', () => {
  const log = new DecisionLog(limits);
  for (const reason of ['A', 'B', 'C', 'D', 'E', 'F']) log.add(decided(reason), 0);
  assert.deepEqual(
    log.all().map(({ reason }) => reason),
    ['B', 'C', 'D', 'E', 'F'],
  );
});

test('long ones count by their length', () => {
  const log = new DecisionLog({ entries: 100, bytes: 3_000 });
  for (let time = 0; time < 20; time++) log.add(decided('Failed', { message: `${time} ${'x'.repeat(5_000)}` }), time);
  assert.ok(log.bytes <= 3_000);
  assert.equal(log.all().length, 2);
  assert.equal(log.last()?.message.length, 1_024);
});
