import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseVmodule, vmoduleVerbosity } from './vmodule.ts';

test('the flag is a list of pattern=N', () => {
  assert.deepEqual(parseVmodule(''), []);
  assert.deepEqual(parseVmodule('loop=4,pod-*=10'), [
    { filePattern: 'loop', verbosity: 4 },
    { filePattern: 'pod-*', verbosity: 10 },
  ]);
  for (const bad of ['loop', 'loop=', '=3', 'loop=-1', 'loop=x', 'a=1=2']) {
    assert.throws(() => parseVmodule(bad), { kind: 'invalid' }, bad);
  }
});

test('the first pattern that matches the base name decides', () => {
  const verbosity = vmoduleVerbosity(parseVmodule('loop=4,pod-*=6,pod-worker=9,w?rk=2,a.b=3'));
  const table: [string, number][] = [
    ['loop.ts', 4],
    ['loops.ts', 0],
    ['pod-worker.ts', 6],
    ['work.ts', 2],
    ['wrk.ts', 0],
    ['a.b.ts', 3],
    ['axb.ts', 0],
    ['other.ts', 0],
  ];
  for (const [file, expected] of table) assert.equal(verbosity(file), expected, file);
});
