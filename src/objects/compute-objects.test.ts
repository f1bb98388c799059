import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '../gen/kubernetes/types.ts';
import { objectKey, type StandaloneObject } from '../model/standalone-object.ts';
import { computeObjects, type KnownObjects } from './compute-objects.ts';

const map = (name: string, object: ConfigMap = {}, line = 1): StandaloneObject => ({
  kind: 'ConfigMap',
  namespace: 'ns',
  name,
  path: '/m/a.yaml',
  line,
  object,
});
const secret = (name: string, object: ConfigMap = {}): StandaloneObject => ({ ...map(name), kind: 'Secret', object });
const known = (...objects: readonly StandaloneObject[]): KnownObjects => computeObjects(new Map(), objects).objects;
const data = (value: string): ConfigMap => ({ data: { k: value } });

test('what pods may see differently', () => {
  const cases: readonly (readonly [string, KnownObjects, readonly StandaloneObject[], readonly string[]])[] = [
    ['first', known(), [map('a'), secret('a')], ['ConfigMap ns/a', 'Secret ns/a']],
    ['the same', known(map('a', data('1'))), [map('a', data('1'))], []],
    ['moved', known(map('a', data('1'))), [map('a', data('1'), 9)], []],
    ['other values', known(map('a', data('1')), map('b')), [map('a', data('2')), map('b')], ['ConfigMap ns/a']],
    ['other bytes', known(map('a')), [map('a', { binaryData: { k: '' } })], ['ConfigMap ns/a']],
    ['removed', known(map('a'), secret('a')), [secret('a')], ['ConfigMap ns/a']],
    ['no data is no data', known(map('a')), [map('a', { data: {} })], []],
    ['only labels', known(map('a')), [map('a', { metadata: { labels: { x: '1' } } })], []],
    ['now immutable', known(map('a', data('1'))), [map('a', { ...data('1'), immutable: true })], []],
  ];
  for (const [name, before, manifests, expected] of cases) {
    const { changed, problems } = computeObjects(before, manifests);
    assert.deepEqual(changed.map(objectKey), expected, name);
    assert.deepEqual(problems, [], name);
  }
});

test('of two with one name the first counts, and the other is reported with its place', () => {
  const second = { ...map('a', data('2'), 7), path: '/m/b.yaml' };
  const { objects, problems } = computeObjects(new Map(), [map('a', data('1'), 3), secret('a'), second]);
  assert.deepEqual(objects.get('ConfigMap ns/a')?.object, data('1'));
  assert.deepEqual(problems, [
    { path: '/m/b.yaml', line: 7, message: 'ConfigMap ns/a stands already at /m/a.yaml:3; that one counts' },
  ]);
});

test('an immutable object stays as it is until it is removed', () => {
  const fixed = { ...data('1'), immutable: true };
  const before = known(map('a', fixed));
  const attempts: readonly (readonly [ConfigMap, string])[] = [
    [{ ...data('2'), immutable: true }, 'data'],
    [{ ...fixed, binaryData: { b: '' } }, 'binaryData'],
    [data('1'), 'immutable'],
    [{ ...data('2'), immutable: false }, 'immutable'],
  ];
  for (const [attempt, field] of attempts) {
    const { objects, changed, problems } = computeObjects(before, [map('a', attempt, 4)]);
    assert.deepEqual(objects.get('ConfigMap ns/a')?.object, fixed);
    assert.deepEqual(changed, []);
    const rule = `${field}: Forbidden: field is immutable when \`immutable\` is set`;
    assert.equal(problems.length, 1);
    assert.ok(problems[0]?.message.startsWith(`ConfigMap ns/a: ${rule}; `), problems[0]?.message);
    assert.equal(problems[0]?.line, 4);
  }
  const removed = computeObjects(before, []);
  assert.deepEqual(computeObjects(removed.objects, [map('a', data('2'))]).problems, []);
});
