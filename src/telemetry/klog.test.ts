import assert from 'node:assert/strict';
import { test } from 'node:test';
import { klogJson } from './klog-json.ts';
import { klogText } from './klog-text.ts';
import type { LogLine } from './log-line.ts';

const base: LogLine = {
  severity: 'info',
  level: 0,
  time: new Date(2025, 10, 15, 6, 34, 0, 764).getTime() + 0.7195,
  pid: 17885,
  position: 'file.ts:240',
  message: 'Message',
  fields: {},
  error: undefined,
};
const text = (line: Partial<LogLine>) => klogText({ ...base, ...line });
const json = (line: Partial<LogLine>) => klogJson({ ...base, ...line });

test('the text line has the shape of klog', () => {
  assert.equal(
    text({ fields: { key: 'value' } }),
    'I1115 06:34:00.764719   17885 file.ts:240] "Message" key="value"\n',
  );
  assert.equal(text({ pid: 1, severity: 'warn' }), 'W1115 06:34:00.764719       1 file.ts:240] "Message"\n');
  assert.equal(text({ pid: 12345678 }), 'I1115 06:34:00.764719 12345678 file.ts:240] "Message"\n');
});

test('an error comes before the fields', () => {
  const line = text({ severity: 'error', error: 'no such "thing"', fields: { pod: 'x' } });
  assert.equal(line, 'E1115 06:34:00.764719   17885 file.ts:240] "Message" err="no such \\"thing\\"" pod="x"\n');
});

const pod = { name: 'web', namespace: 'shop', uid: '1', spec: { containers: [] } };
const circular: Record<string, unknown> = {};
circular['self'] = circular;

// value, as text, as JSON
const values: [name: string, value: unknown, text: string, json: string][] = [
  ['number', 3, '=3', '3'],
  ['fraction', -0.5, '=-0.5', '-0.5'],
  ['boolean', true, '=true', 'true'],
  ['big integer', 12n, '=12', '12'],
  ['null', null, '=null', 'null'],
  ['quotes', 'a "b"', '="a \\"b\\""', '"a \\"b\\""'],
  ['list', ['a', 1], '=["a",1]', '["a",1]'],
  ['object', { a: { b: 'c' } }, '={"a":{"b":"c"}}', '{"a":{"b":"c"}}'],
  ['HTML letters', { a: '<&>' }, '={"a":"\\u003c\\u0026\\u003e"}', '{"a":"\\u003c\\u0026\\u003e"}'],
  ['pod', pod, '="shop/web"', '{"name":"web","namespace":"shop"}'],
  ['API object', { metadata: { name: 'web', namespace: 'shop' } }, '="shop/web"', '{"name":"web","namespace":"shop"}'],
  ['no namespace', { name: 'node-1', namespace: '' }, '="node-1"', '{"name":"node-1"}'],
  ['error', new Error('a', { cause: new Error('b') }), '="a: b"', '"a: b"'],
  ['nested error', [new Error('a')], '=["a"]', '["a"]'],
  ['map', new Map([['a', 1]]), '={"a":1}', '{"a":1}'],
  ['set', new Set([1]), '=[1]', '[1]'],
  ['bytes', new Uint8Array([1, 2]), '="AQI="', '"AQI="'],
  ['two lines', 'one\ntwo', '=<\n\tone\n\ttwo\n >', '"one\\ntwo"'],
  [
    'lines with other controls',
    'a\r\n\tb\x1b[31m\0\x7f',
    '=<\n\ta\\r\n\t\tb\\x1b[31m\\x00\\x7f\n >',
    '"a\\r\\n\\tb\\u001b[31m\\u0000\u007f"',
  ],
  ['ending line', 'one\n\ntwo\n', '=<\n\tone\n\t\n\ttwo\n >', '"one\\n\\ntwo\\n"'],
];
for (const [name, value, asText, asJson] of values) {
  test(`value: ${name}`, () => {
    assert.equal(text({ fields: { key: value } }).split('"Message" ')[1], `key${asText}\n`);
    const line = json({ fields: { key: value } });
    assert.ok(line.endsWith(`,"v":0,"key":${asJson}}\n`), line);
    JSON.parse(line);
  });
}

test('a value that cannot be written does not break the line; a missing one is left out', () => {
  assert.match(text({ fields: { key: circular } }), /key="\\u003cinternal error: .*"\n$/);
  JSON.parse(json({ fields: { key: circular } }));
  assert.ok(text({ fields: { key: undefined } }).endsWith('] "Message"\n'));
  assert.deepEqual(Object.keys(JSON.parse(json({ fields: { key: undefined } }))), ['ts', 'caller', 'msg', 'v']);
});

test('the JSON line has the shape of component-base', () => {
  const time = 1_700_000_000_000.1235;
  assert.equal(
    json({ time, level: 4, fields: { a: 1 } }),
    '{"ts":1700000000000.123,"caller":"file.ts:240","msg":"Message","v":4,"a":1}\n',
  );
  assert.equal(
    json({ time, severity: 'error', error: 'broken', fields: { a: 1 } }),
    '{"ts":1700000000000.123,"caller":"file.ts:240","msg":"Message","a":1,"err":"broken"}\n',
  );
});

test('a line has an end, whatever is to be written', () => {
  const long = 'é'.repeat(100_000);
  const cases: readonly Partial<LogLine>[] = [
    { fields: { key: long } },
    { fields: { key: `${long}\n${long}` } },
    { fields: { key: [long, { deep: long }], other: long } },
    { severity: 'error', error: long, fields: { message: long } },
    { message: long },
  ];
  for (const one of cases) {
    const asText = text(one);
    assert.ok(Buffer.byteLength(asText) <= 10 * 1024, `${Buffer.byteLength(asText)} bytes`);
    assert.match(asText, /… \(\d+ bytes in all\)\n$/);
    const asJson = json(one);
    assert.ok(Buffer.byteLength(asJson) <= 10 * 1024, `${Buffer.byteLength(asJson)} bytes`);
    assert.match(asJson, /… \(\d+ letters in all\)/);
    JSON.parse(asJson);
  }
  const short = 'x'.repeat(9_000);
  assert.ok(text({ fields: { key: short } }).includes(short));
  assert.ok(json({ fields: { key: short } }).includes(short));
});
