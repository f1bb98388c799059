import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownValue } from './own-value.ts';

test('only what the object holds itself counts', () => {
  const map: Readonly<Record<string, string>> = { a: '1', constructor: 'mine' };
  assert.deepEqual(
    ['a', 'constructor', 'toString', '__proto__', 'hasOwnProperty', undefined].map((key) => ownValue(map, key)),
    ['1', 'mine', undefined, undefined, undefined, undefined],
  );
  assert.equal(ownValue(JSON.parse('{"__proto__":"x"}') as Record<string, string>, '__proto__'), 'x');
  assert.equal(ownValue(undefined, 'a'), undefined);
});
