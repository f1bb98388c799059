import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CgroupUsage, Pressure } from '../model/usage.ts';
import { plain } from '../testing/fake-api-server/json.ts';
import { type FakeUsage, StatsWorld } from '../testing/stats-world.ts';
import { cpuStats, fsStats, ioStats, memoryStats, networkStats } from './summary-parts.ts';
import { anInstance, aPod, aSandbox, observedPod } from '../testing/pods.ts';

const time = '2026-11-15T08:00:00Z';

function usageOf(usage: FakeUsage): CgroupUsage {
  const world = new StatsWorld();
  world.cgroups.set('/x', usage);
  const read = world.deps().cgroups.read('/x', 'core');
  assert.ok(read);
  return read;
}

describe('memory that is left', () => {
  const cases: readonly (readonly [string, FakeUsage, number | undefined])[] = [
    ['nothing limits', { memory: 100 }, undefined],
    ['up to the limit, without what is taken back at once', { memory: 100, inactiveFile: 30, limit: 200 }, 130],
    ['never less than nothing', { memory: 300, limit: 200 }, 0],
  ];
  for (const [name, usage, expected] of cases) {
    test(name, () => {
      const read = usageOf(usage);
      assert.equal(memoryStats(read, time, 'never', read.limits.memory).availableBytes, expected);
    });
  }
});

test('pressure: never, where it is known, or always', () => {
  const line = { totalUs: 5, avg10: 1, avg60: 2, avg300: 3 };
  const pressure: Pressure = { some: line, full: { ...line, totalUs: 4 } };
  const shown = { total: 5, avg10: 1, avg60: 2, avg300: 3 };
  const known = usageOf({ pressure: { cpu: pressure, memory: pressure, io: pressure } });
  const unknown = usageOf({});
  const all = (usage: CgroupUsage, choice: 'never' | 'known' | 'always') => [
    cpuStats({ usage, nanoCores: 0 }, time, choice).psi,
    memoryStats(usage, time, choice, undefined).psi,
    ioStats(usage, time, choice).psi,
  ];
  const reported = { full: { ...shown, total: 4 }, some: shown };
  assert.deepEqual(all(known, 'known'), [reported, reported, reported]);
  assert.deepEqual(all(known, 'never'), [undefined, undefined, undefined]);
  assert.deepEqual(all(unknown, 'known'), [undefined, undefined, undefined]);
  assert.equal(all(unknown, 'always')[0]?.some.total, 0);
});

test('what a file system does not report is left out', () => {
  const none = {
    available: undefined,
    capacity: 5,
    used: undefined,
    inodes: undefined,
    inodesFree: undefined,
    inodesUsed: undefined,
  };
  const stats = plain(fsStats(undefined, 1, none, time));
  assert.deepEqual(stats, { time, capacityBytes: 5, inodesUsed: 1 });
});

test('a network without interfaces is reported as such', () => {
  assert.deepEqual(plain(networkStats([], time)), { time, interfaces: [] });
});

test('swap that is left to a container: its limit, and what the machine has', async () => {
  const cases: readonly (readonly [FakeUsage, number])[] = [
    [{ swap: 10 }, 500],
    [{ swap: 10, swapLimit: 100 }, 90],
    [{ swap: 10, swapLimit: 10_000 }, 500],
    [{ swap: 10, swapLimit: 0 }, 0],
  ];
  for (const [usage, expected] of cases) {
    const world = new StatsWorld();
    const seen = observedPod([aSandbox('s1')], [anInstance('main', { id: 'c1' })], 'u1');
    world.pods = [{ pod: aPod({ uid: 'u1' }), startTime: undefined, seen }];
    world.cgroups.set('/kubepods/besteffort/podu1/c1', usage);
    const answer = world.stats().summary({ onlyCpuAndMemory: true }, new AbortController().signal);
    await world.clock.advance(200);
    const swap = (await answer).pods[0]?.containers[0]?.swap;
    assert.deepEqual([swap?.swapAvailableBytes, swap?.swapUsageBytes], [expected, 10]);
  }
});
