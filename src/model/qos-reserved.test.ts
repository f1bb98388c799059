import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQosReserved } from './qos-reserved.ts';

test('a whole percentage of memory, or nothing', () => {
  assert.equal(parseQosReserved({}), undefined);
  assert.equal(parseQosReserved({ memory: '50%' }), 50n);
  assert.equal(parseQosReserved({ memory: '+7%' }), 7n);
});

test('what is wrong is said', () => {
  const cases = [
    [{ cpu: '50%' }, 'cannot reserve "cpu" resource'],
    [{ memory: '50' }, `failed to parse percentage "50" for "memory" resource: percentage expected, got '50'`],
    [
      { memory: '5.5%' },
      `failed to parse percentage "5.5%" for "memory" resource: invalid number in percentage '5.5%'`,
    ],
    [
      { memory: '101%' },
      'failed to parse percentage "101%" for "memory" resource: percentage must be between 0 and 100',
    ],
  ] as const;
  for (const [reserved, message] of cases) assert.throws(() => parseQosReserved(reserved), { message });
});
