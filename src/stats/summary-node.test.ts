import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatsWorld } from '../testing/stats-world.ts';
import { NodeOfSummary } from './summary-node.ts';

test('when the machine was started is asked for once a minute, the rest each time', async () => {
  const world = new StatsWorld();
  const deps = world.deps();
  const asked: string[] = [];
  let bootedAt: number | undefined = 1_000;
  const machine = {
    ...deps.machine,
    bootTime: () => (asked.push('bootTime'), bootedAt),
    memory: () => (asked.push('memory'), { ...deps.machine.memory(), swapFree: asked.length }),
  };
  const node = new NodeOfSummary({ ...deps, machine });
  assert.deepEqual([node.now().bootedAt, node.now().bootedAt], [1_000, 1_000]);
  assert.deepEqual(asked, ['bootTime', 'memory', 'memory']);

  // Somebody has set the clock.
  bootedAt = 5_000;
  await world.clock.advance(59_999);
  assert.deepEqual([node.now().bootedAt, node.now().swapFree], [1_000, 5]);
  await world.clock.advance(1);
  assert.equal(node.now().bootedAt, 5_000);

  bootedAt = undefined;
  await world.clock.advance(60_000);
  assert.equal(node.now().bootedAt, 0, 'a kernel that does not tell');
});
