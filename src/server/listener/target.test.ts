import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTarget } from './target.ts';

const good: readonly (readonly [target: string, path: string, segments: readonly string[], search?: string])[] = [
  ['/', '/', []],
  ['/pods', '/pods', ['pods']],
  ['/pods/', '/pods', ['pods']],
  ['/pods///', '/pods', ['pods']],
  ['/?verbose', '/', [], 'verbose'],
  ['/pods?a=1?b', '/pods', ['pods'], 'a=1?b'],
  ['/logs/a%20b/c', '/logs/a b/c', ['logs', 'a b', 'c']],
  ['/%70ods', '/pods', ['pods']],
  ['//pods', '//pods', ['', 'pods']],
  ['/a//b', '/a//b', ['a', '', 'b']],
  ['/a...b/...', '/a...b/...', ['a...b', '...']],
  ['/exec?command=%zz', '/exec', ['exec'], 'command=%zz'],
  ['http://node:10250/pods?x', '/pods', ['pods'], 'x'],
  ['HTTPS://node/pods', '/pods', ['pods']],
  ['http://[::1]:10250', '/', []],
  ['http://node?x=1', '/', [], 'x=1'],
];
for (const [target, path, segments, search = ''] of good) {
  test(`${target} is ${path}`, () => {
    assert.deepEqual(parseTarget(target), { kind: 'path', path, segments, search });
  });
}

const bad = [
  '/%',
  '/%zz',
  '/a/%ff',
  '/%c3',
  '/logs/%2e%2e/shadow',
  '/logs/../shadow',
  '/./pods',
  '/logs/a%2fb',
  '/logs/a%2F..%2F..%2Fshadow',
  '/logs/a%00',
  '*',
  '',
  'pods',
  'node:10250',
  'http://[/pods',
  'http:///pods',
  'ftp://node/pods',
];
for (const target of bad) {
  test(`${JSON.stringify(target)} is bad`, () => {
    assert.equal(parseTarget(target).kind, 'bad');
  });
}
