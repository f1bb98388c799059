import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { FakeClock } from '../testing/fake-clock.ts';
import { onSignals } from './signals.ts';

test('the first signal asks, the second does not, and an echo is neither', async () => {
  const source = new EventEmitter();
  const clock = new FakeClock();
  let left = 0;
  const signal = onSignals(source, clock, () => left++);
  assert.equal(signal.aborted, false);
  source.emit('SIGTERM');
  assert.equal(signal.aborted, true);
  await clock.advance(200);
  source.emit('SIGTERM');
  assert.equal(left, 0);
  await clock.advance(200);
  source.emit('SIGINT');
  assert.equal(left, 1);
});
