import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats } from '../../base/heartbeats.ts';
import { processCgroupsIn } from '../../model/process-cgroups.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { AgentCgroup } from './agent-cgroup.ts';

function setUp(configured: string) {
  const clock = new FakeClock();
  const log = new MemoryLog();
  const world = { at: '/', text: '0::/system.slice/kubelet.service', done: [] as string[], failure: '' };
  const cgroup = new AgentCgroup({
    heartbeats: new Heartbeats(),
    clock,
    random: seededRandom(1),
    log,
    configured,
    tree: {
      version: 2,
      own: () => processCgroupsIn(world.text),
      isInside: (path) => world.at === path,
      make: (path) => {
        if (world.failure !== '') throw new Error(world.failure);
        world.done.push(`make ${path}`);
      },
      enter: async (path) => {
        world.done.push(`enter ${path}`);
        world.at = path;
      },
    },
  });
  return { clock, log, world, cgroup };
}

test('moves the agent to the cgroup that is configured, at once, and again when it was moved away', async () => {
  const { clock, world, cgroup } = setUp('agents/kubelet/');
  await cgroup.start();
  assert.deepEqual(world.done, ['make /agents/kubelet', 'enter /agents/kubelet']);
  assert.equal(cgroup.path(), '/agents/kubelet');
  await clock.advance(180_000);
  assert.equal(world.done.length, 2);
  world.at = '/';
  await clock.advance(60_000);
  assert.equal(world.done.length, 4);
  await cgroup.stop();
  assert.equal(clock.pending(), 0);
});

test('a cgroup that cannot be made does not fail the start, is reported once and retried', async () => {
  const { clock, log, world, cgroup } = setUp('/agents');
  world.failure = 'read-only';
  await cgroup.start();
  await clock.advance(120_000);
  assert.deepEqual(log.messages('error'), ['Failed to ensure state']);
  world.failure = '';
  await clock.advance(60_000);
  assert.deepEqual(world.done, ['make /agents', 'enter /agents']);
  await cgroup.stop();
});

test('without a configured one detects the cgroup it was started in, again every five minutes', async () => {
  const { clock, log, world, cgroup } = setUp('');
  await cgroup.start();
  assert.equal(cgroup.path(), '/system.slice/kubelet.service');
  world.text = '';
  await clock.advance(300_000);
  assert.equal(cgroup.path(), '');
  assert.deepEqual(log.messages('info'), ['The usage of the agent is not reported, for it has no cgroup of its own']);
  await clock.advance(300_000);
  assert.equal(log.messages('info').length, 1);
  assert.deepEqual(world.done, []);
  await cgroup.stop();
});
