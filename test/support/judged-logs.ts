import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import type { MemoryLog } from '../../src/testing/memory-log.ts';
import { judgeLog, type PlayedPod } from './judge-log.ts';

/** A world whose log is judged. */
interface JudgedWorld {
  readonly log: MemoryLog;
  /** All pods that were in play so far. */
  playedPods(): readonly PlayedPod[];
}

/** With the number of lines that were judged already: a world may last for several tests. */
const worlds = new Map<JudgedWorld, number>();

/** A scenario in which a line of the log does not name its pod fails, whatever else it is about. */
export function judgeAfterEachTest(world: JudgedWorld): void {
  worlds.set(world, 0);
}

/** What is wrong with lines that were not judged before. */
export function judgeWorld(world: JudgedWorld): readonly string[] {
  const { entries } = world.log;
  const judged = worlds.get(world) ?? 0;
  worlds.set(world, entries.length);
  return judgeLog(entries.slice(judged <= entries.length ? judged : 0), world.playedPods());
}

// Worlds are made for fuzzing too, where no test runner is.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  afterEach(() => {
    assert.deepEqual([...worlds.keys()].flatMap(judgeWorld), []);
  });
}
