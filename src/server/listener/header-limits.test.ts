import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasTooManyHeaders } from './header-limits.ts';

const limits = { headerBytes: 100, authenticatedHeaderBytes: 200, headerCount: 4 };
const value = (bytes: number): readonly string[] => ['x', 'a'.repeat(bytes - 1)];

test('how many headers a request may have, and how large they may be', () => {
  const table: readonly (readonly [readonly string[], boolean, boolean])[] = [
    [[], false, false],
    [['a', '1', 'b', '2', 'c', '3'], false, false],
    [['a', '1', 'b', '2', 'c', '3', 'd', '4'], false, true],
    [value(100), false, false],
    [value(101), false, true],
    [value(200), true, false],
    [value(201), true, true],
  ];
  for (const [headers, isAuthenticated, wanted] of table)
    assert.equal(hasTooManyHeaders(headers, isAuthenticated, limits), wanted, headers.join().slice(0, 20));
});
