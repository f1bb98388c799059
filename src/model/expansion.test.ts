import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandVariables } from './expansion.ts';

const values: Readonly<Record<string, string>> = { A: 'x', EMPTY: '', REF: '$(A)' };

const cases: readonly (readonly [string, string])[] = [
  ['', ''],
  ['plain', 'plain'],
  ['$(A)', 'x'],
  ['-$(A)-$(A)-', '-x-x-'],
  ['$(EMPTY)|', '|'],
  ['$(NONE)', '$(NONE)'],
  ['$()', '$()'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$x'],
  ['$$$$(A)', '$$(A)'],
  ['$', '$'],
  ['a$', 'a$'],
  ['$(A', '$(A'],
  ['$(A $(A)', '$(A $(A)'],
  ['$A ${A}', '$A ${A}'],
  ['$(REF)', '$(A)'],
  ['$(A)$', 'x$'],
];

for (const [text, expected] of cases) {
  test(`expansion of ${JSON.stringify(text)}`, () => {
    assert.equal(
      expandVariables(text, (name) => values[name]),
      expected,
    );
  });
}
