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
  const passed: (string | undefined)[] = [];
  const state: { node?: Node; failing: boolean } = { failing: false };
  const cidr = new PodCidr({
    watch: undefined,
    clock,
    random: seededRandom(1),
    log: new MemoryLog(),
    runtime: {
      updateRuntimeConfig: async ({ runtimeConfig }) => {
        if (state.failing) throw new TubeletError('unavailable', 'away');
        passed.push(runtimeConfig?.networkConfig?.podCidr);
        return {};
      },
    },
    node: () => state.node,
    configured,
  });
  return { clock, passed, state, cidr };
}

test('passed when it is known, again when it changes, and not otherwise', async () => {
  const { clock, passed, state, cidr } = world();
  await cidr.start();
  await clock.settle();
  assert.deepEqual(passed, []);
  state.node = { spec: { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24', 'fd00::/64'] } };
  cidr.reconcile();
  await clock.settle();
  cidr.reconcile();
  await clock.settle();
  assert.deepEqual(passed, ['10.0.1.0/24,fd00::/64']);
  state.node = { spec: { podCIDRs: ['10.0.2.0/24'] } };
  cidr.reconcile();
  await clock.settle();
  assert.equal(passed.at(-1), '10.0.2.0/24');
  state.node = {};
  cidr.reconcile();
  await clock.settle();
  assert.equal(passed.length, 2, 'a node that lost its range keeps the one it has');
  await cidr.stop();
});

test('an unavailable runtime gets it later', async () => {
  const { clock, passed, state, cidr } = world();
  state.node = { spec: { podCIDRs: ['10.0.1.0/24'] } };
  state.failing = true;
  await cidr.start();
  await clock.advance(30_000);
  state.failing = false;
  await clock.advance(13_000);
  assert.deepEqual(passed, ['10.0.1.0/24']);
  await cidr.stop();
  assert.equal(clock.pending(), 0);
});

test('without an API server it is the configured one', async () => {
  const { clock, passed, cidr } = world('10.88.0.0/16');
  await cidr.start();
  await clock.settle();
  assert.deepEqual(passed, ['10.88.0.0/16']);
  await cidr.stop();
});
