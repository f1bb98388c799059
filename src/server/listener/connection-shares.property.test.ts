import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ConnectionShares, type ConnectionStage } from './connection-shares.ts';

const address = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const stage = fc.constantFrom<ConnectionStage[]>('silent', 'speaking', 'asked');
const step = fc.oneof(
  fc.record({ kind: fc.constant('add'), address, stage }),
  fc.record({ kind: fc.constant('move'), address, stage, at: fc.nat(40) }),
  fc.record({ kind: fc.constant('remove'), address, stage, at: fc.nat(40) }),
);

test('after the surplus is closed, no address has more than its share, and a third of it is safe in each stage', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const limit = { inAll: 12, each: 6 };
      const shares = new ConnectionShares<number>(limit);
      const open = new Map<number, { address: string; stage: ConnectionStage }>();
      let next = 0;
      for (const one of steps) {
        const chosen = 'at' in one ? [...open.keys()][one.at % Math.max(1, open.size)] : undefined;
        const before = chosen === undefined ? undefined : open.get(chosen);
        if (one.kind === 'add') {
          open.set(next, { address: one.address, stage: one.stage });
          shares.add(one.address, one.stage, next++);
        } else if (chosen !== undefined && before !== undefined && one.kind === 'remove') {
          open.delete(chosen);
          shares.remove(before.address, chosen);
        } else if (chosen !== undefined && before !== undefined) {
          open.set(chosen, { ...before, stage: one.stage });
          shares.move(before.address, chosen, one.stage);
        }
        const countOf = (of: string, at?: ConnectionStage): number =>
          [...open.values()].filter(({ address, stage }) => address === of && (at === undefined || stage === at))
            .length;
        for (let excess = shares.excess(); excess !== undefined; excess = shares.excess()) {
          const victim = open.get(excess.connection);
          assert.ok(victim !== undefined, 'who goes is there');
          const { address, stage } = victim;
          assert.ok(countOf(address) > limit.each || open.size > limit.inAll, 'there was too much');
          assert.ok(countOf(address, stage) * 3 >= countOf(address), 'a stage with less than a third is left alone');
          open.delete(excess.connection);
          shares.remove(address, excess.connection);
        }
        assert.equal(shares.size, open.size);
        assert.ok(open.size <= limit.inAll);
        for (const { address } of open.values()) assert.ok(countOf(address) <= limit.each);
      }
    }),
  );
});
