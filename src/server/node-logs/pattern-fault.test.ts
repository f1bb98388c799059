import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { patternFault } from './pattern-fault.ts';

describe('a pattern', () => {
  const good = [
    'error|warn',
    '(?i)failed (to|by)',
    '[]a]+',
    '[^]]*',
    '[[:alpha:]]+',
    '\\[\\(\\)',
    '(?P<n>x)?',
    'a{2,3}',
    '^x*?$',
    '\\Q(*\\E*',
    '\\Q((',
    '[\\]]',
    '(a|b)*',
    'a|b*',
  ];
  for (const pattern of good) test(`may be right: ${pattern}`, () => assert.equal(patternFault(pattern), undefined));

  const bad: readonly (readonly [string, string])[] = [
    ['(a', 'missing closing ): `(a`'],
    ['a)', 'unexpected ): `a)`'],
    ['x[a-', 'missing closing ]: `[a-`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
    ['*a', 'missing argument to repetition operator: `*`'],
    ['a|+', 'missing argument to repetition operator: `+`'],
    ['(?', 'missing closing ): `(?`'],
    ['a\0', 'it cannot have a zero character'],
  ];
  for (const [pattern, words] of bad) {
    test(`is wrong: ${JSON.stringify(pattern)}`, () => {
      assert.equal(patternFault(pattern), `error parsing regexp: ${words}`);
    });
  }

  test('that this language takes is never refused', () => {
    const text = fc
      .array(fc.constantFrom(...'ab()[]|*+?\\^$.:Q-'.split('')), { maxLength: 12 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(text, (pattern) => {
        // These mean other things in other dialects: quotes, a class that begins with a bracket, empty classes.
        if (/\\Q|\[\^?\]|\[:|\[\^?$/.test(pattern) || !isRegExp(pattern)) return;
        assert.equal(patternFault(pattern), undefined, pattern);
      }),
      { numRuns: 2_000 },
    );
  });
});

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}
