import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pressureConditions, undisturbed } from './node-conditions.ts';

test('pressure is said in the words of the conditions', () => {
  assert.deepEqual(pressureConditions({ memory: true, disk: false, pid: true }), ['MemoryPressure', 'PIDPressure']);
  assert.deepEqual(pressureConditions(undisturbed.pressure()), []);
  assert.equal(undisturbed.shuttingDown(), false);
});
