import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podUid } from '../base/ids.ts';
import { computeBudget, objectLimits } from './compute-budget.ts';

const limits = { objectBytes: 1, shareBytes: 10, podBytes: 50, nodeBytes: 60 };

/** `pod: keys` → who is refused, and because of what. */
function refused(
  pods: Readonly<Record<string, string>>,
  sizes: Readonly<Record<string, number>>,
): Record<string, string> {
  const named = new Map(Object.entries(pods).map(([uid, keys]) => [podUid(uid), keys.split('')]));
  const refusals = computeBudget(named, new Map(Object.entries(sizes)), limits);
  return Object.fromEntries([...refusals].map(([uid, { because }]) => [uid, because]));
}

test('who may have objects', () => {
  const table: readonly (readonly [string, Record<string, string>, Record<string, number>, Record<string, string>])[] =
    [
      ['little', { p: 'ab' }, { a: 4, b: 4 }, {}],
      ['much', { p: 'ab' }, { a: 24, b: 24 }, {}],
      ['too much', { p: 'ab' }, { a: 24, b: 25 }, { p: 'pod' }],
      ['too many, of unknown size', { p: 'x'.repeat(51) }, {}, { p: 'pod' }],
      ['together too much: who came later waits', { p: 'a', q: 'b' }, { a: 40, b: 40 }, { q: 'node' }],
      [
        'one who asks for too much takes nothing from others',
        { p: 'ab', q: 'c' },
        { a: 40, b: 40, c: 40 },
        { p: 'pod' },
      ],
      ['what two pods name counts once', { p: 'a', q: 'a' }, { a: 40 }, {}],
      ['a share is safe from others', { p: 'a', q: 'b', r: 'c' }, { a: 40, b: 40, c: 9 }, { q: 'node' }],
    ];
  for (const [what, pods, sizes, expected] of table) assert.deepEqual(refused(pods, sizes), expected, what);
});

test('the messages say how much and what to do', () => {
  const uid = podUid('p');
  const keys = Array.from({ length: 260 }, (_, index) => `k${index}`);
  const sizes = new Map(keys.map((key) => [key, 1024 * 1024]));
  assert.match(
    computeBudget(new Map([[uid, keys]]), sizes).get(uid)?.message ?? '',
    /^the 260 .* more than 16 MiB .*: name fewer/,
  );
  assert.ok(objectLimits.podBytes <= objectLimits.nodeBytes);
});
