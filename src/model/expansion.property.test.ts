import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { expandVariables } from './expansion.ts';

const text = fc.string({ unit: fc.constantFrom('$', '(', ')', 'A', 'b', ' '), maxLength: 20 });

test('a text without a dollar stays as it is', () => {
  fc.assert(
    fc.property(fc.string(), (any) => {
      const safe = any.replaceAll('$', '');
      assert.equal(
        expandVariables(safe, () => 'value'),
        safe,
      );
    }),
  );
});

test('a text whose dollars are doubled comes out as it was', () => {
  fc.assert(
    fc.property(text, (any) => {
      assert.equal(
        expandVariables(any.replaceAll('$', '$$$$'), () => 'value'),
        any,
      );
    }),
  );
});

test('without values only doubled dollars shrink', () => {
  fc.assert(
    fc.property(text, (any) => {
      const expanded = expandVariables(any, () => undefined);
      assert.ok(expanded.length <= any.length);
      if (!any.includes('$$')) assert.equal(expanded, any);
    }),
  );
});
