import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PathMap } from './path-map.ts';

test('names in a folder and paths below one follow what is set and deleted', () => {
  const map = new PathMap<number>();
  for (const [index, path] of ['/a', '/a/b/c', '/a/b/d', '/e', '/ab/c'].entries()) map.set(path, index);
  map.set('/a/b/c', 7);
  assert.deepEqual([map.names('/'), map.names('/a'), map.names('/a/b')], [['a', 'e', 'ab'], ['b'], ['c', 'd']]);
  assert.deepEqual([map.below('/a'), map.below('/').length], [['/a/b/c', '/a/b/d'], 5]);
  assert.equal(map.delete('/a/b/c'), true);
  assert.equal(map.delete('/a/b/c'), false);
  assert.deepEqual([map.names('/a/b'), map.names('/a')], [['d'], ['b']]);
  map.delete('/a/b/d');
  assert.deepEqual([map.names('/a/b'), map.names('/a'), map.get('/a')], [[], [], 0]);
  map.clear();
  assert.deepEqual([map.names('/'), map.size], [[], 0]);
});
