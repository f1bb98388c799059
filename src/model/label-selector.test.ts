import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LabelSelector } from '../gen/kubernetes/types.ts';
import { selects, selectorText } from './label-selector.ts';

const expression = (operator: string, ...values: readonly string[]): LabelSelector => ({
  matchExpressions: [{ key: 'tier', operator, ...(values.length > 0 && { values }) }],
});

describe('labels are selected', () => {
  const live = { env: 'live', tier: 'web' };
  const rows: readonly (readonly [string, LabelSelector | undefined, Record<string, string>, boolean])[] = [
    ['no selector takes nothing', undefined, live, false],
    ['an empty one takes everything', {}, {}, true],
    ['a label', { matchLabels: { env: 'live' } }, live, true],
    ['a label of another value', { matchLabels: { env: 'test' } }, live, false],
    ['a label that is not there', { matchLabels: { toString: 'x' } }, live, false],
    ['one of some values', expression('In', 'db', 'web'), live, true],
    ['none of some values', expression('In', 'db'), live, false],
    ['without the label, in', expression('In', 'web'), {}, false],
    ['not in', expression('NotIn', 'db'), live, true],
    ['in what it should not', expression('NotIn', 'web'), live, false],
    ['without the label, not in', expression('NotIn', 'web'), {}, true],
    ['exists', expression('Exists'), live, true],
    ['exists not', expression('Exists'), {}, false],
    ['does not exist', expression('DoesNotExist'), {}, true],
    ['does exist', expression('DoesNotExist'), live, false],
    ['all must hold', { matchLabels: { env: 'live' }, ...expression('In', 'db') }, live, false],
  ];
  for (const [name, selector, labels, expected] of rows) {
    test(name, () => assert.equal(selects(selector, labels), expected));
  }

  test('an operator that there is not', () => {
    assert.throws(() => selects(expression('Like', 'x'), live), /"Like" is not a valid label selector operator/);
  });
});

test('the text is the same for the same selection', () => {
  const selector: LabelSelector = {
    matchLabels: { b: '2', a: '1' },
    matchExpressions: [
      { key: 'c', operator: 'NotIn', values: ['y', 'x'] },
      { key: 'd', operator: 'Exists' },
      { key: 'aa', operator: 'DoesNotExist' },
    ],
  };
  assert.equal(selectorText(selector), 'a=1,!aa,b=2,c notin (x,y),d');
  assert.equal(selectorText({}), '');
});
