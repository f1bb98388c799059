import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { loadGolden, type GoldenRecord } from '../../src/testing/golden.ts';
import { differencesOf } from './compare.ts';
import { diffLists, diffValues } from './diff.ts';

/** A record with another text in one place: a comparison worth its name finds the place. */
function tampered(from: string, to: string): GoldenRecord {
  const text = JSON.stringify(loadGolden('plain'));
  assert.equal(text.split(from).length, 2, `the record has ${from} not just once`);
  return JSON.parse(text.replace(from, () => to)) as GoldenRecord;
}

describe('a record that is tampered with is found out', () => {
  const cases: readonly (readonly [what: string, from: string, to: string, found: readonly string[]])[] = [
    [
      'what a call asks for',
      '"timeout":"2"',
      '"timeout":"9"',
      ['call StopContainer {{id1}}.timeout: recorded "9", ours "2"'],
    ],
    [
      'which calls there are',
      '"verb":"StartContainer"',
      '"verb":"PauseContainer"',
      ['call missing: PauseContainer {{id1}}', 'call extra: StartContainer {{id1}}'],
    ],
    [
      'an event',
      'Started container c',
      'Begun container c',
      [
        'event missing: Normal Started Begun container c (spec.containers{c})',
        'event extra: Normal Started Started container c (spec.containers{c})',
      ],
    ],
    [
      'a file',
      '644 0:0 f etc-hosts',
      '600 0:0 f etc-hosts',
      ['file missing: 600 0:0 f etc-hosts', 'file extra: 644 0:0 f etc-hosts'],
    ],
  ];
  for (const [what, from, to, found] of cases) {
    test(what, async () => assert.deepEqual(await differencesOf(tampered(from, to)), found));
  }

  test('a state on the way, and the last one', async () => {
    const record = loadGolden('plain');
    const statuses = record.statuses.map((status) => ({
      ...status,
      ...(status.phase === 'Running' && { phase: 'Unknown' }),
      hostIP: '192.0.2.99',
    }));
    assert.deepEqual(await differencesOf({ ...record, statuses }), [
      'phase never: Unknown',
      'phase also: Running',
      'held status.hostIP: recorded "192.0.2.99", ours "{{hostIP}}"',
      'held status.phase: recorded "Unknown", ours "Running"',
      'last status.hostIP: recorded "192.0.2.99", ours "{{hostIP}}"',
    ]);
  });

  test('what stands in the hosts file', async () => {
    const record = loadGolden('plain');
    const logs = { c: (record.logs['c'] ?? '').replace('localhost', 'elsewhere') };
    const [difference, ...more] = await differencesOf({ ...record, logs });
    assert.match(difference ?? '', /^hosts file: recorded .*elsewhere/s);
    assert.deepEqual(more, []);
  });
});

test('values differ by path; absent and null are the same', () => {
  const recorded = { a: 1, list: [{ b: 'x' }, 2], gone: { deep: true }, none: null };
  const ours = { a: 1, list: [{ b: 'y' }, 2, 3] };
  assert.deepEqual(diffValues(recorded, ours, 'at'), [
    'at.gone: recorded {…}, ours nothing',
    'at.list.0.b: recorded "x", ours "y"',
    'at.list.2: recorded nothing, ours 3',
  ]);
});

test('lists differ in what one has and the other has not, in order', () => {
  assert.deepEqual(diffLists(['a', 'b', 'c'], ['a', 'b', 'c']), { missing: [], extra: [] });
  assert.deepEqual(diffLists(['a', 'b', 'c'], ['a', 'c', 'd']), { missing: ['b'], extra: ['d'] });
  assert.deepEqual(diffLists(['a', 'b'], ['b', 'a']), { missing: ['a'], extra: ['a'] });
  assert.deepEqual(diffLists([], ['a']), { missing: [], extra: ['a'] });
});
