import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYamlDocuments } from '../base/yaml.ts';
import { renderYaml } from './render-yaml.ts';

test('values with their comments', () => {
  const text = renderYaml(
    { a: 1, b: { c: 'x', d: {} }, list: ['10.0.0.1', 'yes'], none: [], items: [{ k: 'v' }] },
    (path) => `from ${path.join('/')}`,
  );
  assert.equal(
    text,
    [
      'a: 1 # from a',
      'b:',
      '  c: x # from b/c',
      '  d: {} # from b/d',
      'list: # from list',
      '- "10.0.0.1"',
      '- "yes"',
      'none: [] # from none',
      'items: # from items',
      '- {"k":"v"}',
      '',
    ].join('\n'),
  );
});

test('odd texts come back as they went', () => {
  const words = [
    '',
    ' ',
    'yes',
    'n',
    '0644',
    '1e3',
    '12:30',
    '- a',
    'a: b',
    'a #b',
    '#',
    '&x',
    '*x',
    '!x',
    '%',
    '@',
    '`',
    'null',
    '~',
    '"',
    "'",
    '10%',
    'unix:///x',
    'a:',
    '<<',
    '{',
    '[',
    'é',
    'a\nb',
    '\t',
  ];
  for (const word of words) {
    const value = { [word === '' ? 'empty' : word]: word, list: [word] };
    const [document] = parseYamlDocuments(renderYaml(value, () => 'c'));
    assert.deepEqual(document?.value, value, JSON.stringify(word));
  }
});
