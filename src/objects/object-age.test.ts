import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxObjectAgeMs } from './object-age.ts';

const annotation = 'node.alpha.kubernetes.io/ttl';
const cases: readonly (readonly [strategy: string, ttl: string | undefined, expectedMs: number])[] = [
  ['Get', '300', 0],
  ['Cache', undefined, 60_000],
  ['Cache', '0', 0],
  ['Cache', '300', 300_000],
  ['Cache', '-1', 60_000],
  ['Cache', '1.5', 60_000],
  ['Cache', 'soon', 60_000],
];

for (const [strategy, ttl, expected] of cases) {
  test(`${strategy}, where the node says ${ttl}: objects may be ${expected} ms old`, () => {
    const node = { metadata: { name: 'n', annotations: ttl === undefined ? {} : { [annotation]: ttl } } };
    assert.equal(maxObjectAgeMs(strategy, node), expected);
  });
}

test('a node that is not known yet says nothing', () => assert.equal(maxObjectAgeMs('Cache', undefined), 60_000));
