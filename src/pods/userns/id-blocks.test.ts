import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { podUid } from '../../base/ids.ts';
import type { UserNamespaceBlock } from '../../model/namespaces.ts';
import { blockCount, computeFreeBlock, IdBlocks, idLimit, type IdSpace } from './id-blocks.ts';

const k64 = 65_536;
const space: IdSpace = { first: k64, end: 5 * k64, blockLength: k64 };
/** A block in units of 65536 ids. */
const block = (from: number, length = 1): UserNamespaceBlock => ({ hostId: from * k64, length: length * k64 });

describe('the lowest free block', () => {
  const table: readonly (readonly [string, IdSpace, readonly UserNamespaceBlock[], UserNamespaceBlock | undefined])[] =
    [
      ['nothing held', space, [], block(1)],
      ['the first held', space, [block(1)], block(2)],
      ['a gap', space, [block(3), block(1)], block(2)],
      ['all held', space, [block(4), block(2), block(1), block(3)], undefined],
      ['held ones below and above the space', space, [block(0), block(5), block(9)], block(1)],
      ['a long one from before', space, [block(2, 2), block(1)], block(4)],
      ['a long one that covers all', space, [block(0, 9)], undefined],
      [
        'short ones from before, blocks longer now',
        { first: 2 * k64, end: 9 * k64, blockLength: 2 * k64 },
        [block(3)],
        block(4, 2),
      ],
      [
        'one that reaches into a block',
        { first: 2 * k64, end: 9 * k64, blockLength: 2 * k64 },
        [block(2)],
        block(4, 2),
      ],
      ['a rest that is no whole block', { ...space, end: 2 * k64 - 1 }, [], undefined],
      ['the end of all ids', { ...space, first: idLimit - (k64 - 1), end: idLimit }, [], undefined],
    ];
  for (const [name, ids, held, expected] of table) {
    test(name, () => assert.deepEqual(computeFreeBlock(ids, held), expected));
  }

  test('how many there are', () => {
    assert.equal(blockCount(space), 4);
    assert.equal(blockCount({ ...space, end: 5 * k64 - 1 }), 3);
    assert.equal(blockCount({ first: k64, end: idLimit, blockLength: k64 }), 65_534);
    assert.equal(blockCount({ first: 2 ** 31, end: 2 ** 30, blockLength: k64 }), 0);
  });
});

describe('allocated blocks', () => {
  const [a, b] = [podUid('a'), podUid('b')];

  test('a pod keeps its block until it is released, then another gets it', () => {
    const blocks = new IdBlocks();
    assert.deepEqual(blocks.allocate(a, space), block(1));
    assert.deepEqual(blocks.allocate(b, space), block(2));
    assert.deepEqual(blocks.allocate(a, space), block(1));
    blocks.release(a);
    assert.deepEqual(blocks.allocate(podUid('c'), space), block(1));
    assert.deepEqual([...blocks.held().keys()], ['b', 'c']);
  });

  test('none is left', () => {
    const blocks = new IdBlocks();
    assert.equal(blocks.allocate(a, { ...space, end: k64 }), undefined);
    assert.equal(blocks.held().size, 0);
  });

  test('a claim of what the pod had before', () => {
    const blocks = new IdBlocks();
    assert.equal(blocks.claim(a, block(3)), undefined);
    assert.equal(blocks.claim(a, block(3)), undefined);
    assert.deepEqual(blocks.allocate(a, space), block(3));
    // Out of another space than today's, and longer: the pod runs with it.
    assert.equal(blocks.claim(b, block(100, 2)), undefined);
  });

  const refused: readonly (readonly [UserNamespaceBlock, string])[] = [
    [block(2), 'the pod already has the ids 65536 to 131071'],
    [block(1, 2), 'the pod already has the ids 65536 to 131071'],
  ];
  for (const [claimed, why] of refused) {
    test(`not two blocks: ${claimed.hostId} + ${claimed.length}`, () => {
      const blocks = new IdBlocks();
      blocks.claim(a, block(1));
      assert.equal(blocks.claim(a, claimed), why);
      assert.deepEqual([...blocks.held()], [['a', block(1)]]);
    });
  }

  test('neither the host’s nor another pod’s ids', () => {
    const blocks = new IdBlocks();
    blocks.claim(a, block(1, 2));
    assert.equal(blocks.claim(b, block(2)), 'the ids 131072 to 196607 belong to pod a');
    assert.equal(blocks.claim(b, block(0, 9)), 'no pod may have the ids 0 to 589823');
    assert.equal(blocks.claim(b, block(65_535)), 'no pod may have the ids 4294901760 to 4294967295');
    assert.deepEqual([...blocks.held().keys()], ['a']);
  });
});
