import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYamlDocuments, YamlError } from './yaml.ts';

function one(text: string): unknown {
  const documents = parseYamlDocuments(text);
  assert.equal(documents.length, 1);
  return documents[0]?.value;
}

function faultOf(text: string): YamlError {
  try {
    parseYamlDocuments(text);
  } catch (error) {
    assert.ok(error instanceof YamlError);
    return error;
  }
  throw new Error('expected a fault');
}

test('plain scalars mean what they mean to Go', () => {
  const table: readonly (readonly [string, unknown])[] = [
    ['yes', true],
    ['Yes', true],
    ['yEs', 'yEs'],
    ['on', true],
    ['y', true],
    ['no', false],
    ['Off', false],
    ['n', false],
    ['~', null],
    ['null', null],
    ['0644', 420],
    ['0o644', 420],
    ['0x1F', 31],
    ['-0x10', -16],
    ['0b11', 3],
    ['-0b11', -3],
    ['08', 8],
    ['1_000', 1000],
    ['1_0.5', 10.5],
    ['+5', 5],
    ['-0', 0],
    ['1.5', 1.5],
    ['1e3', 1000],
    ['1.', 1],
    ['.5', 0.5],
    ['12:30', '12:30'],
    ['2001-01-23', '2001-01-23'],
    ['2001-12-14T21:59:43.10-05:00', '2001-12-14T21:59:43.10-05:00'],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['18446744073709551615', 18446744073709551615n],
    ['-9223372036854775808', -9223372036854775808n],
    ['18446744073709551616', 18446744073709552000],
    ['1e999', '1e999'],
    ['100m', '100m'],
    ['1Gi', '1Gi'],
    ['-', '-'],
    ['.', '.'],
    ['"yes"', 'yes'],
    ["'1'", '1'],
    ['!!str 1', '1'],
    ['!!int "7"', 7],
    ['!!binary aGk=', 'hi'],
    ['!own 5', '5'],
    ['<<', '<<'],
  ];
  for (const [text, expected] of table) {
    const value = text === '-' ? one(`k: "-"`) : one(`k: ${text}`);
    assert.deepEqual(value, { k: expected }, text);
  }
});

test('keys become text', () => {
  assert.deepEqual(one('n: 1\n8080: 2\n0x10: 3\n1.50: 4\nyes: 5\n"no": 6'), {
    false: 1,
    8080: 2,
    16: 3,
    1.5: 4,
    true: 5,
    no: 6,
  });
  assert.match(faultOf('? [a]\n: 1').message, /a key must be text/);
  assert.match(faultOf('a: 1\n~: 1').message, /line 2, column 1: a key must be text.*not null/);
});

test('merges: own keys win, then the earlier source', () => {
  const text = 'base: &b {a: 1, c: 1}\nother: &o {c: 2, z: 2}\none:\n  <<: *b\n  a: 9\ntwo:\n  <<: [*b, *o]\n';
  const value = one(text);
  assert.deepEqual(value, {
    base: { a: 1, c: 1 },
    other: { c: 2, z: 2 },
    one: { a: 9, c: 1 },
    two: { a: 1, c: 1, z: 2 },
  });
  assert.match(faultOf('a:\n  <<: 5').message, /line 2, .*a merge/);
  assert.deepEqual(one('"<<": {a: 1}'), { '<<': { a: 1 } });
});

test('a duplicate key is an error with its line, or a note when asked for', () => {
  const fault = faultOf('a: 1\nb:\n  c: 1\n  c: 2\n');
  assert.deepEqual([fault.line, fault.column, fault.kind], [4, 3, 'invalid']);
  assert.match(fault.message, /key "c" is already set/);
  assert.equal(faultOf('y: 1\ntrue: 2').line, 2);
  const notes: unknown[] = [];
  const [document] = parseYamlDocuments('a: 1\na: 2', { onDuplicateKey: (key, line) => notes.push([key, line]) });
  assert.deepEqual(document?.value, { a: 2 });
  assert.deepEqual(notes, [['a', 2]]);
});

test('JSON works, also with tabs', () => {
  assert.deepEqual(
    one('{\n\t"a":\t1,\n\t"b": [true, null, "x\\/\\u00e9\\ud83d\\ude00"],\r\n\t"c": {"d": 9007199254740993}\n}\n'),
    {
      a: 1,
      b: [true, null, 'x/\u00e9\u{1f600}'],
      c: { d: 9007199254740993n },
    },
  );
});

test('documents without content are left out', () => {
  assert.equal(parseYamlDocuments('').length, 0);
  assert.equal(parseYamlDocuments('# only\n# comments\n').length, 0);
  assert.equal(parseYamlDocuments('---\n---\n# c\n').length, 0);
  const documents = parseYamlDocuments('---\na: 1\n---\n# nothing\n---\nb: 2\n...\n');
  assert.deepEqual(
    documents.map((document) => document.value),
    [{ a: 1 }, { b: 2 }],
  );
  assert.equal(documents[1]?.lineOf(['b']), 6);
});

test('lineOf: keys, items, aliases, and the nearest ancestor', () => {
  const text = [
    'kind: Pod', // 1
    'spec:', // 2
    '  shared: &s', // 3
    '    deep: 1', // 4
    '  list:', // 5
    '  - name: a', // 6
    '    port: 1', // 7
    '  -', // 8
    '    name: b', // 9
    '  - *s', // 10
    '  - plain', // 11
    '  again: *s', // 12
    '  empty:', // 13
  ].join('\n');
  const [document] = parseYamlDocuments(text);
  const table: readonly (readonly [readonly (string | number)[], number])[] = [
    [[], 1],
    [['kind'], 1],
    [['spec'], 2],
    [['spec', 'shared', 'deep'], 4],
    [['spec', 'list'], 5],
    [['spec', 'list', 0], 6],
    [['spec', 'list', 0, 'port'], 7],
    [['spec', 'list', 1, 'name'], 9],
    [['spec', 'list', 2], 10],
    [['spec', 'list', 2, 'deep'], 4],
    [['spec', 'list', 3], 11],
    [['spec', 'again'], 12],
    [['spec', 'empty'], 13],
    [['spec', 'list', 0, 'missing', 'x'], 6],
    [['nothing'], 1],
  ];
  for (const [path, line] of table) assert.equal(document?.lineOf(path), line, path.join('.'));
});

test('faults carry line and column', () => {
  const tab = faultOf('a:\n\tb: 1');
  assert.deepEqual([tab.line, tab.column], [2, 1]);
  assert.equal(faultOf('a: [1,\nb: 2').kind, 'invalid');
  assert.match(faultOf('a: *gone').message, /unknown anchor 'gone'/);
  assert.match(faultOf('a: &x [*x]').message, /anchor 'x' contains itself/);
  assert.match(faultOf('a: .inf').message, /no number JSON can carry/);
  assert.match(faultOf('a: !!bool 7').message, /cannot read "7" as !!bool/);
});

test('alias bombs are refused, plain depth is bounded', () => {
  const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
  for (let level = 1; level < 9; level++) {
    lines.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(',')}]`);
  }
  assert.match(faultOf(lines.join('\n')).message, /too many values/);
  assert.equal(faultOf('['.repeat(5000)).kind, 'invalid');
});

test('__proto__ is an ordinary key', () => {
  const value = one('__proto__: {polluted: true}') as object;
  assert.deepEqual(Object.keys(value), ['__proto__']);
  assert.equal('polluted' in value, false);
});
