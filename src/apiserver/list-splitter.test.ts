import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListSplitter } from './list-splitter.ts';

interface Cut {
  readonly items: readonly unknown[];
  readonly shell: unknown;
}

/** The list as it comes out, arriving in pieces of some bytes. */
function cut(text: string, pieceBytes = text.length, maxItemBytes = 10_000): Cut {
  const splitter = new ListSplitter(maxItemBytes);
  const bytes = Buffer.from(text);
  const items: unknown[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    for (const item of splitter.push(bytes.subarray(at, at + pieceBytes))) {
      items.push(JSON.parse(Buffer.from(item).toString('utf8')));
    }
  }
  return { items, shell: JSON.parse(splitter.shell()) };
}

const metadata = { resourceVersion: '7', continue: 'items"[{' };

test('items come out one by one, the rest without them', () => {
  const items = [{ a: '}],"items":[{' }, {}, { deep: { items: [{ b: [[1, '\\"]']] }] } }, { 'ä€': '\u{1f600}' }];
  const shell = { kind: 'PodList', items: [], metadata };
  const table: readonly (readonly [string, string, Cut])[] = [
    ['plain', JSON.stringify({ kind: 'PodList', items, metadata }), { items, shell }],
    ['indented', JSON.stringify({ kind: 'PodList', items, metadata }, undefined, 2), { items, shell }],
    ['empty', JSON.stringify({ items: [], metadata }), { items: [], shell: { items: [], metadata } }],
    ['null', JSON.stringify({ items: null, metadata }), { items: [], shell: { items: null, metadata } }],
    ['none', JSON.stringify({ metadata }), { items: [], shell: { metadata } }],
    [
      'other key',
      JSON.stringify({ itemsX: [{}], a: 'items', b: [{}] }),
      { items: [], shell: { itemsX: [{}], a: 'items', b: [{}] } },
    ],
    ['a value of that name', '{"a":"items","b":[{}]}', { items: [], shell: { a: 'items', b: [{}] } }],
    ['an object of that name', '{"items":{"items":[{}]}}', { items: [], shell: { items: { items: [{}] } } }],
  ];
  for (const [what, text, expected] of table) {
    for (const bytes of [1, 2, 7, 1_000]) assert.deepEqual(cut(text, bytes), expected, `${what} in pieces of ${bytes}`);
  }
});

test('anything but a list is refused, and so is an item that is too long', () => {
  for (const text of [
    '{"items":[1]}',
    '{"items":["a"]}',
    '{"items":[[{}]]}',
    '{"items":[{',
    '{"items":[',
    '[',
    '{"a',
  ]) {
    assert.throws(() => cut(text), { kind: 'unavailable' }, text);
  }
  const long = JSON.stringify({ items: [{ a: 'x'.repeat(10_000) }] });
  for (const bytes of [100, long.length]) assert.throws(() => cut(long, bytes), /longer than 10000 bytes/);
  const around = JSON.stringify({ items: [], more: 'x'.repeat(1024 * 1024) });
  assert.throws(() => cut(around, 1_000), /besides its items/);
});
