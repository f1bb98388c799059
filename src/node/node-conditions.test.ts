import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeConditions, pressureConditions } from './node-conditions.ts';

test('pressure is said in the words of the conditions', () => {
  assert.deepEqual(pressureConditions({ memory: true, disk: false, pid: true }), ['MemoryPressure', 'PIDPressure']);
  const undisturbed = nodeConditions({ isSet: () => false });
  assert.deepEqual(pressureConditions(undisturbed.pressure()), []);
  assert.equal(undisturbed.shuttingDown(), false);
  assert.equal(nodeConditions({ isSet: () => true }).shuttingDown(), true);
});
