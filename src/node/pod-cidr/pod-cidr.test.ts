import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../../base/errors.ts';
import type { Node } from '../../gen/kubernetes/types.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { MemoryLog } from '../../testing/memory-log.ts';
import { seededRandom } from '../../testing/seeded-random.ts';
import { PodCidr } from './pod-cidr.ts';

function world(configured = '') {
  const clock = new FakeClock();
  const told: (string | undefined)[] = [];
  const state: { node?: Node; failing: boolean } = { failing: false };
  const cidr = new PodCidr({
    watch: undefined,
    clock,
    random: seededRandom(1),
    log: new MemoryLog(),
    runtime: {
      updateRuntimeConfig: async ({ runtimeConfig }) => {
        if (state.failing) throw new TubeletError('unavailable', 'away');
        told.push(runtimeConfig?.networkConfig?.podCidr);
        return {};
      },
    },
    node: () => state.node,
    configured,
  });
  return { clock, told, state, cidr };
}

test('told when it is known, again when it changes, and not otherwise', async () => {
  const { clock, told, state, cidr } = world();
  await cidr.start();
  await clock.settle();
  assert.deepEqual(told, []);
  state.node = { spec: { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24', 'fd00::/64'] } };
  cidr.look();
  await clock.settle();
  cidr.look();
  await clock.settle();
  assert.deepEqual(told, ['10.0.1.0/24,fd00::/64']);
  state.node = { spec: { podCIDRs: ['10.0.2.0/24'] } };
  cidr.look();
  await clock.settle();
  assert.equal(told.at(-1), '10.0.2.0/24');
  state.node = {};
  cidr.look();
  await clock.settle();
  assert.equal(told.length, 2, 'a node that lost its range keeps the one it has');
  await cidr.stop();
});

test('a runtime that is away is told later', async () => {
  const { clock, told, state, cidr } = world();
  state.node = { spec: { podCIDRs: ['10.0.1.0/24'] } };
  state.failing = true;
  await cidr.start();
  await clock.advance(30_000);
  state.failing = false;
  await clock.advance(13_000);
  assert.deepEqual(told, ['10.0.1.0/24']);
  await cidr.stop();
  assert.equal(clock.pending(), 0);
});

test('without an API server it is the configured one', async () => {
  const { clock, told, cidr } = world('10.88.0.0/16');
  await cidr.start();
  await clock.settle();
  assert.deepEqual(told, ['10.88.0.0/16']);
  await cidr.stop();
});
