import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../gen/kubernetes/types.ts';
import { matchesNodeSelector } from './node-selector.ts';

const node = { name: 'node-1', labels: { disk: 'ssd', cores: '16', empty: '', word: 'many' } };

function matches(...nodeSelectorTerms: readonly NodeSelectorTerm[]): boolean {
  return matchesNodeSelector({ nodeSelectorTerms }, node);
}

const byLabel: readonly [key: string, operator: string, values: readonly string[] | undefined, expected: boolean][] = [
  ['disk', 'In', ['hdd', 'ssd'], true],
  ['disk', 'In', ['hdd'], false],
  ['disk', 'In', [], false],
  ['none', 'In', [''], false],
  ['disk', 'NotIn', ['hdd'], true],
  ['disk', 'NotIn', ['hdd', 'ssd'], false],
  ['none', 'NotIn', ['ssd'], true],
  ['disk', 'NotIn', [], false],
  ['empty', 'Exists', undefined, true],
  ['none', 'Exists', undefined, false],
  ['disk', 'Exists', ['ssd'], false],
  ['none', 'DoesNotExist', undefined, true],
  ['empty', 'DoesNotExist', undefined, false],
  ['cores', 'Gt', ['15'], true],
  ['cores', 'Gt', ['16'], false],
  ['cores', 'Lt', ['17'], true],
  ['cores', 'Lt', ['16'], false],
  ['cores', 'Gt', ['-1'], true],
  ['cores', 'Gt', ['1', '2'], false],
  ['cores', 'Gt', ['few'], false],
  ['cores', 'Lt', ['9223372036854775808'], false],
  ['word', 'Gt', ['1'], false],
  ['none', 'Lt', ['1'], false],
  ['disk', 'Like', ['s*'], false],
  // Keys that every object inherits are no labels.
  ['constructor', 'Exists', undefined, false],
  ['__proto__', 'Exists', undefined, false],
  ['toString', 'DoesNotExist', undefined, true],
  ['valueOf', 'NotIn', ['x'], true],
];

for (const [key, operator, values, expected] of byLabel) {
  test(`label ${key} ${operator} ${JSON.stringify(values)}`, () => {
    assert.equal(matches({ matchExpressions: [{ key, operator, ...(values && { values }) }] }), expected);
  });
}

const byField: readonly [key: string, operator: string, values: readonly string[], expected: boolean][] = [
  ['metadata.name', 'In', ['node-1'], true],
  ['metadata.name', 'In', ['node-2'], false],
  ['metadata.name', 'In', ['node-1', 'node-2'], false],
  ['metadata.name', 'NotIn', ['node-2'], true],
  ['metadata.name', 'NotIn', ['node-1'], false],
  ['metadata.name', 'Exists', [], false],
  ['metadata.uid', 'In', ['node-1'], false],
];

for (const [key, operator, values, expected] of byField) {
  test(`field ${key} ${operator} ${JSON.stringify(values)}`, () => {
    assert.equal(matches({ matchFields: [{ key, operator, values }] }), expected);
  });
}

test('any term, and in it everything', () => {
  const yes: NodeSelectorRequirement = { key: 'disk', operator: 'Exists' };
  const no: NodeSelectorRequirement = { key: 'none', operator: 'Exists' };
  const name = (value: string): NodeSelectorRequirement => ({ key: 'metadata.name', operator: 'In', values: [value] });
  assert.equal(matches(), false);
  assert.equal(matches({}), false);
  assert.equal(matches({ matchExpressions: [], matchFields: [] }), false);
  assert.equal(matches({ matchExpressions: [yes, no] }), false);
  assert.equal(matches({ matchExpressions: [no] }, { matchExpressions: [yes] }), true);
  assert.equal(matches({}, { matchExpressions: [yes] }), true);
  assert.equal(matches({ matchExpressions: [yes], matchFields: [name('node-1')] }), true);
  assert.equal(matches({ matchExpressions: [yes], matchFields: [name('node-2')] }), false);
});
