import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { podUid } from '../../base/ids.ts';
import type { UserNamespaceBlock } from '../../model/namespaces.ts';
import { blockCount, IdBlocks, idLimit, idUnit, type IdSpace } from './id-blocks.ts';

const uid = fc.constantFrom(...['a', 'b', 'c', 'd', 'e', 'f'].map(podUid));
const units = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max }).map((count) => count * idUnit);
/** Small, so that blocks run out and collide; the length changes as a configuration may between two lives of the agent. */
const space: fc.Arbitrary<IdSpace> = fc
  .record({ per: fc.integer({ min: 1, max: 3 }), skip: fc.integer({ min: 1, max: 4 }), ids: units(12) })
  .map(({ per, skip, ids }) => ({
    first: skip * per * idUnit,
    end: skip * per * idUnit + ids,
    blockLength: per * idUnit,
  }));
const block = fc.record({ hostId: units(16), length: units(3) }, { noNullPrototype: true });
const step = fc.oneof(
  fc.record({ do: fc.constant('allocate' as const), uid, space }),
  fc.record({ do: fc.constant('claim' as const), uid, block }),
  fc.record({ do: fc.constant('release' as const), uid }),
);

const endOf = ({ hostId, length }: UserNamespaceBlock): number => hostId + length;

function mustBeApart(blocks: IdBlocks): void {
  const held = [...blocks.held().values()].toSorted((a, b) => a.hostId - b.hostId);
  for (const [index, block] of held.entries()) {
    assert.ok(block.hostId >= idUnit && endOf(block) <= idLimit, 'no pod has an id of the host');
    const next = held[index + 1];
    if (next !== undefined) assert.ok(endOf(block) <= next.hostId, 'no id belongs to two pods');
  }
}

test('no two pods ever share an id, none has one of the host, and each keeps what it has', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const blocks = new IdBlocks();
      for (const each of steps) {
        const before = new Map(blocks.held());
        if (each.do === 'allocate') {
          const got = blocks.allocate(each.uid, each.space);
          assert.deepEqual(got, blocks.held().get(each.uid));
        } else if (each.do === 'claim') {
          const refused = blocks.claim(each.uid, each.block);
          if (refused === undefined) assert.deepEqual(blocks.held().get(each.uid), each.block);
        } else {
          blocks.release(each.uid);
        }
        mustBeApart(blocks);
        for (const [other, block] of before) {
          if (each.do === 'release' && each.uid === other) continue;
          assert.deepEqual(blocks.held().get(other), block);
        }
      }
    }),
  );
});

test('as many pods as there are blocks, from the lowest on; what is released is given again first', () => {
  fc.assert(
    fc.property(space, fc.nat(), (space, chosen) => {
      const blocks = new IdBlocks();
      const count = blockCount(space);
      for (let n = 0; n < count; n++) {
        const { first, blockLength } = space;
        assert.deepEqual(blocks.allocate(podUid(`pod-${n}`), space), {
          hostId: first + n * blockLength,
          length: blockLength,
        });
      }
      assert.equal(blocks.allocate(podUid('late'), space), undefined);
      if (count === 0) return;
      const leaves = podUid(`pod-${chosen % count}`);
      const freed = blocks.held().get(leaves);
      blocks.release(leaves);
      assert.deepEqual(blocks.allocate(podUid('late'), space), freed);
    }),
  );
});
