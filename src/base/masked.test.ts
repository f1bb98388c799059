import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { maskAddress, Masked } from './masked.ts';

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

test('reveal returns the value', () => {
  assert.deepEqual(headers.reveal(), { Authorization: ['Bearer hunter2'] });
});

const addresses: readonly (readonly [string, string])[] = [
  ['https://host/path', 'https://host/path'],
  ['https://me:secret@host/path', 'https://<masked>@host/path'],
  ['see http://secret@a and http://b:secret@c', 'see http://<masked>@a and http://<masked>@c'],
  ['https://me:se@cret@host/', 'https://<masked>@host/'],
  ['https://host/?mail=a@b', 'https://host/?mail=a@b'],
  ['https://host?mail=a@b', 'https://host?mail=a@b'],
  ['someone@example.com', 'someone@example.com'],
  ['', ''],
];
for (const [text, shown] of addresses) {
  test(`the address ${JSON.stringify(text)} is shown as ${JSON.stringify(shown)}`, () => {
    assert.equal(maskAddress(text), shown);
  });
}
