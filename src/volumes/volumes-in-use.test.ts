import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VolumesInUse } from './volumes-in-use.ts';

test('volumes in use are the union of all sources, and unknown before all disks were read', () => {
  type Names = readonly string[] | undefined;
  const rows: readonly (readonly [readonly string[], readonly Names[], Names])[] = [
    [[], [], []],
    [['a'], [[], []], ['a']],
    [
      ['a'],
      [
        ['b', 'a'],
        ['c', 'b'],
      ],
      ['a', 'b', 'c'],
    ],
    [['a'], [undefined, ['b']], undefined],
    [['a'], [['b'], undefined], undefined],
  ];
  for (const [attachable, found, expected] of rows) {
    const onRecord = found.map((names) => ({ inUse: () => names }));
    const inUse = new VolumesInUse({ volumes: { attachable: () => attachable }, onRecord });
    assert.deepEqual(inUse.names(), expected);
  }
});
