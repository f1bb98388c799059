import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeRotation } from './compute-rotation.ts';
import { rotatedName, stampAfter } from './rotated-name.ts';

const log = '0.log';
const strangers = ['1.log', '0.log.bak', '10.log.20260101-000000'];

/** A folder of logs: name → numbers of the pieces written, in order. */
type Folder = Map<string, readonly number[]>;

const event = fc.record({
  /** Pieces written before the check; each counts one byte. */
  written: fc.integer({ min: 0, max: 12 }),
  /** Seconds the clock goes on, or is set back. */
  clock: fc.integer({ min: -100, max: 100 }),
  /** How many steps are carried out before the agent dies; most of the time it lives. */
  dies: fc.option(fc.integer({ min: 0, max: 6 }), { freq: 4 }),
});

/** Carries a plan out as far as the agent lives; a compression that is broken off leaves its beginnings. */
function carryOut(folder: Folder, plan: ReturnType<typeof computeRotation>, steps: number): void {
  for (const step of plan.slice(0, steps)) {
    const at = step.kind === 'compress' || step.kind === 'remove' ? (folder.get(step.name) ?? []) : [];
    switch (step.kind) {
      case 'remove':
        assert.ok(folder.delete(step.name), `${step.name} was there to be removed`);
        break;
      case 'rename':
        assert.ok(!folder.has(step.to), `${step.to} is not overwritten`);
        folder.set(step.to, folder.get(log) ?? []);
        folder.delete(log);
        break;
      case 'reopen':
        folder.set(log, folder.get(log) ?? []);
        break;
      case 'compress':
        folder.delete(step.name);
        folder.set(`${step.name}.gz`, at);
    }
  }
  const broken = plan[steps];
  if (broken?.kind === 'compress') folder.set(`${broken.name}.tmp`, []);
}

test('through any writes, clocks and crashes, the end of the log is kept, in order and within bounds', () => {
  const limits = fc.record({ maxSize: fc.integer({ min: 1, max: 10 }), maxFiles: fc.integer({ min: 2, max: 6 }) });
  fc.assert(
    fc.property(limits, fc.array(event, { maxLength: 40 }), (limits, events) => {
      const folder: Folder = new Map([[log, []], ...strangers.map((name) => [name, []] as const)]);
      let nowStamp = '20260101-000000';
      let written = 0;
      let largest = 0;
      for (const { written: more, clock, dies } of events) {
        nowStamp = stampAfter(nowStamp, clock) ?? nowStamp;
        // After a crash between rename and reopen, the container writes on into the file that was put aside.
        const own = [...folder.keys()].filter((name) => rotatedName(log, name)?.kind === 'plain').toSorted();
        const target = folder.has(log) ? log : (own.at(-1) ?? log);
        folder.set(target, [...(folder.get(target) ?? []), ...Array.from({ length: more }, () => written++)]);
        largest = Math.max(largest, folder.get(target)?.length ?? 0);
        const size = folder.get(log)?.length;
        const plan = computeRotation({ log, size, files: [...folder.keys()], limits, nowStamp });
        carryOut(folder, plan, dies ?? plan.length);

        const rotated = [...folder.keys()].flatMap((name) => rotatedName(log, name) ?? []);
        const files = rotated
          .filter(({ kind }) => kind !== 'unfinished')
          .toSorted((a, b) => (a.stamp < b.stamp ? -1 : 1));
        assert.ok(files.length + 1 <= limits.maxFiles, `${files.length} rotated files`);
        const kept = [...files.map(({ name }) => name), log].flatMap((name) => folder.get(name) ?? []);
        // What is kept is the end of what was written, without a gap and in order.
        assert.deepEqual(
          kept,
          Array.from({ length: kept.length }, (_, index) => written - kept.length + index),
        );
        if (plan.some(({ kind }) => kind === 'rename') && dies === null) {
          assert.equal(files.at(-1)?.kind, 'plain');
          assert.deepEqual(
            files.slice(0, -1).filter(({ kind }) => kind !== 'compressed'),
            [],
          );
          assert.equal(rotated.length, files.length);
        }
        for (const name of strangers) assert.ok(folder.has(name));
      }
    }),
  );
});
