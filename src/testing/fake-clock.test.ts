import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeClock } from './fake-clock.ts';

test('timers run in time order, first in first out within an instant', async () => {
  const clock = new FakeClock();
  const ran: string[] = [];
  const note = (name: string) => () => ran.push(`${name}@${clock.monotonic()}`);
  clock.after(20, note('late'));
  clock.after(10, note('a'));
  clock.after(10, note('b'));
  clock.after(0, note('now'));
  clock.after(10, note('gone'))();
  await clock.advance(15);
  assert.deepEqual(ran, ['now@0', 'a@10', 'b@10']);
  assert.equal(clock.pending(), 1);
  assert.equal(clock.nextDue(), 20);
  await clock.advanceTo(20);
  assert.equal(ran.at(-1), 'late@20');
});

test('timers armed on the way run on the way', async () => {
  const clock = new FakeClock();
  const ran: number[] = [];
  const loop = async () => {
    for (let round = 0; round < 3; round++) {
      await clock.sleep(10);
      ran.push(clock.monotonic());
    }
  };
  const done = loop();
  await clock.advance(100);
  await done;
  assert.deepEqual(ran, [10, 20, 30]);
  assert.equal(clock.monotonic(), 100);
});

test('real file reads settle before the next timer runs', async () => {
  const clock = new FakeClock();
  const ran: string[] = [];
  clock.after(1, () => {
    void (async () => {
      for (let turn = 0; turn < 5; turn++) await readFile('package.json');
      ran.push('read');
    })();
  });
  clock.after(2, () => ran.push('second timer'));
  await clock.advance(2);
  assert.deepEqual(ran, ['read', 'second timer']);
});

test('a read that never ends is not waited for again and again', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'tubelet-clock-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reading = readFile(pipe);
  const clock = new FakeClock();
  let ran = 0;
  for (let timer = 1; timer <= 20; timer++) clock.after(timer, () => ran++);
  const began = performance.now();
  await clock.advance(20);
  assert.equal(ran, 20);
  assert.ok(performance.now() - began < 10_000, 'waited once, not for each timer');
  writeFileSync(pipe, 'end');
  assert.equal(await reading.then(String), 'end');
});

test('runUntil jumps from timer to timer and stops where the predicate holds', async () => {
  const clock = new FakeClock();
  let count = 0;
  const again = () => {
    count++;
    clock.after(60_000, again);
  };
  clock.after(60_000, again);
  await clock.runUntil(() => count === 3, 3_600_000);
  assert.equal(clock.monotonic(), 180_000);
  await assert.rejects(
    clock.runUntil(() => false, 90_000),
    /not reached within 90000 ms/,
  );
  assert.equal(clock.monotonic(), 270_000);
});

test('wall and monotonic time go together until the wall is set', async () => {
  const clock = new FakeClock({ wall: 1_000 });
  await clock.advance(500);
  assert.deepEqual([clock.now(), clock.monotonic()], [1_500, 500]);
  clock.setWall(100);
  await clock.advance(50);
  assert.deepEqual([clock.now(), clock.monotonic()], [150, 550]);
});

test('a timer that arms itself without delay is found out', async () => {
  const clock = new FakeClock({ mostTimersPerInstant: 50 });
  const again = (): void => void clock.after(0, again);
  again();
  await assert.rejects(clock.advance(1), /arm itself again/);
});

test('sleep rejects with the reason of its signal and leaves nothing behind', async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const sleeping = clock.sleep(10, controller.signal);
  const slept = clock.sleep(5, controller.signal);
  await clock.advance(5);
  await slept;
  const reason = new Error('stop');
  controller.abort(reason);
  await assert.rejects(sleeping, reason);
  assert.equal(clock.pending(), 0);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
});

test('time does not go back and has one mover', async () => {
  const clock = new FakeClock();
  await clock.advance(10);
  await assert.rejects(clock.advanceTo(5), /cannot go/);
  const moving = clock.advance(10);
  await assert.rejects(clock.advance(10), /moved already/);
  await moving;
  assert.equal(clock.monotonic(), 20);
});

test('what a timer throws comes out of advance', async () => {
  const clock = new FakeClock();
  clock.after(1, () => {
    throw new Error('from the timer');
  });
  await assert.rejects(clock.advance(1), /from the timer/);
});

test('a wait that is too short for the precision of numbers ends later than it began, as with a real timer', async () => {
  const clock = new FakeClock({ mostTimersPerInstant: 10 });
  await clock.advance(132_239.797_464_785_1);
  const began = clock.monotonic();
  const dueAt = began + 1e-11;
  let rounds = 0;
  const wait = (): void => {
    rounds++;
    const restMs = 1e-11 - (clock.monotonic() - began);
    if (restMs > 0) clock.after(restMs, wait);
  };
  assert.equal(dueAt, began, 'numbers are not that precise');
  wait();
  await clock.advance(1);
  assert.equal(rounds, 2);
});
