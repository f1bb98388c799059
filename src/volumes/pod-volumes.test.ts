import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noVolumes, readyVolumes, recordOf } from './pod-volumes.ts';

test('what is ready is one map until something else is', () => {
  const volumes = noVolumes();
  const [first, second] = [recordOf(volumes, 'a', 0), recordOf(volumes, 'b', 0)];
  assert.deepEqual([...readyVolumes(volumes)], []);

  first.mounted = { hostPath: '/a' };
  const one = readyVolumes(volumes);
  assert.deepEqual([...one], [['a', { hostPath: '/a' }]]);
  assert.equal(readyVolumes(volumes), one);

  second.mounted = { hostPath: '/b' };
  const both = readyVolumes(volumes);
  assert.deepEqual([...both.keys()], ['a', 'b']);

  first.mounted = { hostPath: '/elsewhere' };
  assert.equal(readyVolumes(volumes).get('a')?.hostPath, '/elsewhere');
  // A map that was returned before keeps what was true then.
  assert.equal(both.get('a')?.hostPath, '/a');

  delete first.mounted;
  assert.deepEqual([...readyVolumes(volumes).keys()], ['b']);
  assert.deepEqual([...readyVolumes(undefined)], []);
});
