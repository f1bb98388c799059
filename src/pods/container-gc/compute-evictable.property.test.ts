import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { containerId, podUid } from '../../base/ids.ts';
import { computeEvictable, type GcPolicy, type GcUnit } from './compute-evictable.ts';

const now = 1_000;
const states = fc.constantFrom('created', 'running', 'exited', 'unknown');
const worlds = fc
  .array(
    fc.record({
      contentRemovable: fc.boolean(),
      instances: fc.array(fc.record({ state: states, createdAt: fc.integer({ min: 0, max: now }) }), { maxLength: 6 }),
    }),
    { maxLength: 6 },
  )
  .map((units): readonly GcUnit[] =>
    units.map(({ contentRemovable, instances }, unit) => ({
      uid: podUid(`pod-${unit}`),
      container: 'main',
      contentRemovable,
      instances: instances
        .toSorted((one, other) => other.createdAt - one.createdAt)
        .map((instance, index) => ({ ...instance, id: containerId(`${unit}-${index}`), logPath: `/${unit}/${index}` })),
    })),
  );
const policies: fc.Arbitrary<GcPolicy> = fc.record({
  minAgeMs: fc.constantFrom(0, 0, 300),
  maxPerContainer: fc.integer({ min: -1, max: 4 }),
  maxTotal: fc.integer({ min: -1, max: 12 }),
});

test('what goes is dead and old enough, and what stays is within the policy', () => {
  fc.assert(
    fc.property(worlds, policies, (units, policy) => {
      const evicted = computeEvictable(units, policy, now);
      const going = new Set(evicted.map(({ id }) => id));
      assert.equal(going.size, evicted.length, 'each goes once');
      let total = 0;
      for (const { instances, contentRemovable } of units) {
        const old = instances.filter(({ createdAt }) => now - createdAt >= policy.minAgeMs);
        for (const [index, { id, state, createdAt }] of instances.entries()) {
          if (!going.has(id)) continue;
          assert.ok(now - createdAt >= policy.minAgeMs);
          assert.ok(state === 'exited' || (state === 'created' && index > 0), state);
        }
        const dead = old.filter(({ state }) => state === 'exited');
        const stays = dead.filter(({ id }) => !going.has(id));
        assert.ok(!contentRemovable || stays.length === 0);
        if (policy.maxPerContainer >= 0) assert.ok(stays.length <= policy.maxPerContainer);
        // The newest of a container stay, the older go.
        assert.deepEqual(stays, dead.slice(0, stays.length));
        total += stays.length;
      }
      if (policy.maxTotal >= 0) assert.ok(total <= policy.maxTotal, `${total} stay`);
    }),
  );
});

test('nothing more goes when it is asked again', () => {
  fc.assert(
    fc.property(worlds, policies, (units, policy) => {
      const going = new Set(computeEvictable(units, policy, now).map(({ id }) => id));
      const rest = units.map((unit) => ({ ...unit, instances: unit.instances.filter(({ id }) => !going.has(id)) }));
      assert.deepEqual(computeEvictable(rest, policy, now), []);
    }),
  );
});

test('nothing goes that no limit asks for', () => {
  fc.assert(
    fc.property(worlds, (units) => {
      const kept = units.map((unit) => ({ ...unit, contentRemovable: false }));
      const going = computeEvictable(kept, { minAgeMs: 0, maxPerContainer: -1, maxTotal: -1 }, now);
      const states = new Map(units.flatMap(({ instances }) => instances.map(({ id, state }) => [id, state])));
      assert.deepEqual(
        going.filter(({ id }) => states.get(id) !== 'created'),
        [],
      );
    }),
  );
});
