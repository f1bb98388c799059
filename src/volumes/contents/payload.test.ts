import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMapPayload, conflictIn, pathProblem, secretPayload, type KeyMapping, type Payload } from './payload.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const short = (payload: Payload): readonly string[] =>
  [...payload].map(([path, { content, mode }]) => `${mode.toString(8)} ${path}=${Buffer.from(content).toString()}`);
const plain: KeyMapping = { defaultMode: 0o644, optional: false };

describe('a ConfigMap as files', () => {
  const object = { data: { alpha: 'one', 'b.conf': 'zwei ✓' }, binaryData: { bin: base64('\u0001') } };
  const rows: readonly (readonly [string, KeyMapping, readonly string[]])[] = [
    ['every key under its own name', plain, ['644 bin=\u0001', '644 alpha=one', '644 b.conf=zwei ✓']],
    [
      'an empty list of items is none',
      { ...plain, items: [] },
      ['644 bin=\u0001', '644 alpha=one', '644 b.conf=zwei ✓'],
    ],
    [
      'only the items, under their paths, with their modes',
      {
        ...plain,
        defaultMode: 0o400,
        items: [
          { key: 'alpha', path: 'x/y' },
          { key: 'bin', path: 'z', mode: 0o777 },
        ],
      },
      ['400 x/y=one', '777 z=\u0001'],
    ],
    [
      'an optional one without a key goes without it',
      {
        ...plain,
        optional: true,
        items: [
          { key: 'none', path: 'x' },
          { key: 'alpha', path: 'a' },
        ],
      },
      ['644 a=one'],
    ],
  ];
  for (const [name, mapping, expected] of rows) {
    test(name, () => assert.deepEqual(short(configMapPayload(object, mapping)), expected));
  }

  test('a key that must be there', () => {
    assert.throws(() => configMapPayload(object, { ...plain, items: [{ key: 'none', path: 'x' }] }), {
      kind: 'notFound',
      message: 'configmap references non-existent config key: none',
    });
  });

  test('without values there are no files', () => assert.deepEqual(short(configMapPayload({}, plain)), []));
});

describe('a Secret as files', () => {
  const object = { data: { user: base64('u'), pass: base64('p@ss') } };
  test('bytes, not their base64', () => {
    assert.deepEqual(short(secretPayload(object, plain)), ['644 user=u', '644 pass=p@ss']);
  });
  test('a key that must be there', () => {
    assert.throws(() => secretPayload(object, { ...plain, items: [{ key: 'none', path: 'x' }] }), {
      message: 'references non-existent secret key: none',
    });
  });
});

describe('paths below a volume', () => {
  const rows: readonly (readonly [string, RegExp | undefined])[] = [
    ['a', undefined],
    ['a/b.c', undefined],
    ['a..b', undefined],
    ['...', /must not start with '..'/],
    ['', /must not be empty/],
    ['/a', /must be relative path: \/a/],
    ['..', /must not start with/],
    ['..data', /must not start with/],
    ['a/../b', /must not contain '..'/],
    ['a/..', /must not contain '..'/],
    ['a//b', /shortest form/],
    ['a/./b', /shortest form/],
    ['a/', /shortest form/],
    ['a\0b', /zero byte/],
    ['x'.repeat(256), /longer than 255/],
    ['x/'.repeat(2_100), /4096/],
  ];
  for (const [path, problem] of rows) {
    test(JSON.stringify(path.slice(0, 20)), () => {
      const found = pathProblem(path);
      if (problem === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', problem);
    });
  }

  test('none is a file and a folder at once', () => {
    assert.equal(conflictIn(['a', 'b/c']), undefined);
    assert.equal(conflictIn(['a/b/c', 'a']), 'a');
    assert.equal(conflictIn(['a/b', 'a/b/c']), 'a/b');
  });
});
