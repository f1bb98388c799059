import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryLog } from './memory-log.ts';

test('entries keep severity, level, fields and error; loggers made of it write into the same list', () => {
  const log = new MemoryLog();
  const cause = new Error('x');
  log.info('one', { a: 1 });
  const childLog = log.with({ pod: 'p' });
  childLog.debug(4, 'two');
  childLog.with({ pod: 'q', n: 2 }).error(cause, 'three', { n: 3 });
  log.warn('four');
  assert.deepEqual(log.entries, [
    { severity: 'info', message: 'one', fields: { a: 1 } },
    { severity: 'debug', level: 4, message: 'two', fields: { pod: 'p' } },
    { severity: 'error', message: 'three', fields: { pod: 'q', n: 3 }, error: cause },
    { severity: 'warn', message: 'four', fields: {} },
  ]);
  assert.deepEqual(log.messages('error'), ['three']);
  log.clear();
  assert.deepEqual(childLog.messages(), []);
});
