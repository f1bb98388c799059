import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processStartTicks } from './process-start.ts';

test('a process started after the first one; a missing one has no start', () => {
  const own = processStartTicks(process.pid) ?? 0;
  assert.ok(own > 0);
  assert.equal(processStartTicks(process.pid), own);
  assert.equal(processStartTicks(2 ** 30), undefined);
});
