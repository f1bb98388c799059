import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLargeJson, parseLargeJson } from './large-json.ts';
import { parseYamlDocuments, YamlError } from './yaml.ts';

const pad = 'x'.repeat(300 * 1024);
const timed = <T>(work: () => T): { readonly value: T; readonly ms: number } => {
  const before = performance.now();
  return { value: work(), ms: performance.now() - before };
};
const faultOf = (text: string): YamlError => {
  try {
    parseYamlDocuments(text);
  } catch (error) {
    assert.ok(error instanceof YamlError);
    return error;
  }
  throw new Error('expected a fault');
};

test('only large texts in brackets are taken for JSON', () => {
  assert.equal(isLargeJson('{"a": 1}'), false);
  assert.equal(isLargeJson(` \n{"a": "${pad}"}`), true);
  assert.equal(isLargeJson(`a: ${pad}`), false);
});

test('a large text of JSON means what a small one means, with its lines', () => {
  const value = { pad, spec: { list: [{ 'na"me]': 'a' }, [1, '}', { deep: null }]], empty: {} }, last: 1 };
  const text = JSON.stringify(value, undefined, 2);
  const [large] = parseYamlDocuments(text);
  const [small] = parseYamlDocuments(text.replace(pad, 'x'));
  assert.deepEqual(large?.value, value);
  const paths = [
    [],
    ['pad'],
    ['spec'],
    ['spec', 'list'],
    ['spec', 'list', 0, 'na"me]'],
    ['spec', 'list', 1, 2, 'deep'],
  ];
  for (const path of [...paths, ['spec', 'list', 7], ['spec', 'empty', 'x'], ['last'], ['no']]) {
    assert.equal(large?.lineOf(path), small?.lineOf(path), path.join('.'));
  }
});

test('what only looks like JSON is read as YAML', () => {
  const [document] = parseYamlDocuments(`{a: "${pad}", b: yes}`);
  assert.deepEqual(document?.value, { a: pad, b: true });
  assert.equal(parseLargeJson('{"a": 1', 10), undefined);
  assert.equal(faultOf(`{"a": "${pad}"`).kind, 'invalid');
});

test('a text costs a bounded time: YAML by its length, everything by its values', () => {
  const line = `a: [${'a,'.repeat(1_000_000)}a]`;
  const long = timed(() => faultOf(`${line}${line}`));
  assert.match(long.value.reason, /more than 2097152: split it into several files, or write it as JSON/);
  assert.ok(long.ms < 100, `${long.ms} ms`);
  const many = timed(() => faultOf(line));
  assert.match(many.value.reason, /more than 200000 values: split/);
  const json = timed(() => faultOf(JSON.stringify(Array.from({ length: 300_000 }, () => [1]))));
  assert.match(json.value.reason, /more than 200000 values: split/);
  const deep = timed(() => faultOf('['.repeat(1_000_000)));
  assert.equal(deep.value.kind, 'invalid');
  for (const { ms } of [many, json, deep]) assert.ok(ms < 3_000, `${ms} ms`);
});

test('a ConfigMap as large as the API allows is read, in both ways of writing it', () => {
  const lines = 'some text: with, [brackets]\n'.repeat(36_000);
  const block = `kind: ConfigMap\ndata:\n  file: |\n${lines.replaceAll(/^(?=.)/gm, '    ')}`;
  for (const text of [block, JSON.stringify({ kind: 'ConfigMap', data: { file: lines } })]) {
    assert.deepEqual(parseYamlDocuments(text)[0]?.value, { kind: 'ConfigMap', data: { file: lines } });
  }
});
