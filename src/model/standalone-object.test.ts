import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeObject } from './decode-object.ts';
import { completeConfigMap, completeSecret, objectKey } from './standalone-object.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a secret gets a namespace, a type, and its texts as bytes', () => {
  const secret = completeSecret({
    metadata: { name: 's' },
    data: { a: base64('old'), b: base64('b') },
    stringData: { a: 'new', c: 'grün' },
  });
  assert.deepEqual(secret, {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 's', namespace: 'default' },
    type: 'Opaque',
    data: { a: base64('new'), b: base64('b'), c: base64('grün') },
  });
  assert.equal(completeSecret({ type: 'kubernetes.io/tls' }).type, 'kubernetes.io/tls');
  assert.equal(completeSecret({}).data, undefined);
});

test('a config map gets a namespace', () => {
  assert.deepEqual(completeConfigMap({ metadata: { name: 'c', namespace: 'ns' }, data: { a: '1' } }), {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'c', namespace: 'ns' },
    data: { a: '1' },
  });
  assert.equal(completeConfigMap({}).metadata?.namespace, 'default');
});

test('keys differ by kind, namespace and name', () => {
  const keys = [
    objectKey({ kind: 'Secret', namespace: 'a', name: 'b' }),
    objectKey({ kind: 'ConfigMap', namespace: 'a', name: 'b' }),
    objectKey({ kind: 'ConfigMap', namespace: 'b', name: 'a' }),
  ];
  assert.equal(new Set(keys).size, 3);
});

test('bytes are read as Go reads them: base64 with padding, line ends ignored', () => {
  const decode = (text: unknown): unknown => decodeObject('ConfigMap', { binaryData: { k: text } }, () => 1);
  const good: readonly (readonly [string, string])[] = [
    ['', ''],
    ['aGVsbG8=', 'aGVsbG8='],
    ['aGVs\nbG8=\r\n', 'aGVsbG8='],
    // Bits behind the last byte are dropped.
    ['aGVsbG9=', 'aGVsbG8='],
  ];
  for (const [text, expected] of good) {
    assert.deepEqual(decode(text), { object: { binaryData: { k: expected } }, problems: [] }, text);
  }
  for (const text of ['aGVsbG8', 'hello!==', 'a===', 'aGVs bG8=', '-_-_', 5, true]) {
    const { problems } = decode(text) as { problems: { severity: string; message: string }[] };
    assert.equal(problems[0]?.severity, 'error', String(text));
    assert.match(problems[0]?.message, /^binaryData\[k\]: expected bytes in base64, got /);
  }
});

test('problems of a secret name the place but never the value', () => {
  const { problems } = decodeObject(
    'Secret',
    { data: { a: 'not base64 hunter2', b: 4711 }, stringData: { c: 4711 }, type: ['hunter2'], hunter: 'hunter2' },
    () => 7,
  );
  assert.deepEqual(
    problems.map(({ message }) => message),
    [
      'hunter: unknown field, ignored',
      'data[a]: expected bytes in base64, got a string',
      'data[b]: expected bytes in base64, got a number',
      'stringData[c]: expected a string, got a number',
      'type: expected a string, got a list',
    ],
  );
});
