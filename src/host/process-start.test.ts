import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processStartTicks } from './process-start.ts';

test('a process began after the first one, and one that is not there never', () => {
  const own = processStartTicks(process.pid) ?? 0;
  assert.ok(own > 0);
  assert.equal(processStartTicks(process.pid), own);
  assert.equal(processStartTicks(2 ** 30), undefined);
});
