import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseUnfinished } from './unfinished-bytes.ts';

const limit = { inAll: 100, perAddress: 50, perConnection: 30 };
type Row = readonly [connection: string, address: string, bytes: number];

test('which connections end because of what they sent without a request', () => {
  const ofAddress = 'too many bytes without a request of its address';
  const inAll = 'too many bytes without a request in all';
  const table: readonly (readonly [string, readonly Row[], readonly (readonly [string, string])[]])[] = [
    ['none', [], []],
    [
      'none within the limits',
      [
        ['a', '1', 30],
        ['b', '1', 20],
        ['c', '2', 30],
      ],
      [],
    ],
    [
      'one by itself',
      [
        ['a', '1', 31],
        ['b', '1', 30],
      ],
      [['a', '31 bytes without a request']],
    ],
    [
      'it does not count for its address any more',
      [
        ['a', '1', 90],
        ['b', '1', 30],
        ['c', '1', 20],
      ],
      [['a', '90 bytes without a request']],
    ],
    [
      'the one with the most of an address, and no more than needed',
      [
        ['small', '1', 2],
        ['a', '1', 20],
        ['b', '1', 29],
        ['other', '2', 30],
      ],
      [['b', ofAddress]],
    ],
    [
      'of all addresses',
      [
        ['a', '1', 30],
        ['b', '2', 29],
        ['c', '3', 28],
        ['d', '4', 27],
        ['good', '5', 1],
      ],
      [['a', inAll]],
    ],
  ];
  for (const [what, rows, wanted] of table) {
    const connections = rows.map(([connection, address, bytes]) => ({ connection, address, bytes }));
    const victims = chooseUnfinished(connections, limit).map(({ connection, reason }) => [connection, reason]);
    assert.deepEqual(victims, wanted, what);
  }
});
