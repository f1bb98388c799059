import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { Masked } from './masked.ts';

const headers = new Masked({ Authorization: ['Bearer hunter2'] });

test('however it is printed, the value does not show', () => {
  const printed = [
    String(headers),
    JSON.stringify({ deep: [headers] }),
    inspect({ deep: [headers] }, { showHidden: true, depth: 9 }),
    format('%s %o %O %j', headers, headers, headers, headers),
    JSON.stringify(Object.entries(headers)),
    JSON.stringify(Object.assign({}, headers)),
    inspect(new Error('failed', { cause: headers })),
  ];
  for (const text of printed) assert.ok(!text.includes('hunter2'), text);
  assert.equal(String(headers), '<masked>');
});

test('whoever asks for it gets it', () => {
  assert.deepEqual(headers.reveal(), { Authorization: ['Bearer hunter2'] });
});
