import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandVariables, TextBudget } from './expansion.ts';

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

test('openings without an end cost their length, not its square', () => {
  const text = '$('.repeat(400_000);
  const before = performance.now();
  assert.equal(
    expandVariables(text, () => undefined),
    text,
  );
  // The square takes 9 s where this takes 40 ms.
  assert.ok(performance.now() - before < 2_000);
});

test('a budget ends what grows beyond it', () => {
  const budget = new TextBudget(1_000);
  let value = 'x';
  for (let level = 0; level < 64; level++) value = expandVariables('$(A)$(A)', () => value, budget);
  assert.equal(budget.exceeded, true);
  assert.ok(value.length <= 2_000, `${value.length}`);
  assert.match(budget.message, /more than 1000 bytes/);
  const enough = new TextBudget(4);
  assert.equal(
    expandVariables('a$(A)c', () => 'bb', enough),
    'abbc',
  );
  assert.equal(enough.exceeded, false);
});
