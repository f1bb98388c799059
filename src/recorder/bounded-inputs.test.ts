import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedInputs } from './bounded-inputs.ts';

test('small inputs stay as they are, as JSON has them', () => {
  const inputs = {
    attempt: 3,
    exitCode: null,
    sizeBytes: 12n,
    isStatic: true,
    victims: ['a', 'b'],
    was: { phase: 'Running' },
  };
  assert.deepEqual(boundedInputs(inputs), { ...inputs, sizeBytes: '12' });
  assert.deepEqual(boundedInputs({ absent: undefined, odd: Number.NaN }), { odd: 'NaN' });
});

test('what is too many, too deep or too long is cut, and says so', () => {
  const many = boundedInputs({ list: Array.from({ length: 40 }, (_, index) => index) });
  assert.deepEqual((many['list'] as readonly unknown[]).slice(-2), [31, '8 more']);
  const wide = boundedInputs(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key${index}`, index])));
  assert.equal(Object.keys(wide).length, 33);
  assert.equal(wide['…'], '8 more');
  assert.deepEqual(boundedInputs({ a: { b: { c: { d: 1 } } } }), { a: { b: { c: '…' } } });
  assert.equal(boundedInputs({ text: 'x'.repeat(1_000) })['text'], `${'x'.repeat(256)}…`);
});

test('a key that every object inherits is a key like any other', () => {
  const inputs = boundedInputs(JSON.parse('{"__proto__":"a","constructor":"b"}'));
  assert.deepEqual(Object.entries(inputs), [
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});

test('a ranking of many rows ends within the room there is', () => {
  const row = { pod: 'n'.repeat(200), usage: 'u'.repeat(200) };
  const ranking = boundedInputs({ ranking: Array.from({ length: 30 }, () => row) });
  assert.ok(JSON.stringify(ranking).length < 6_000, String(JSON.stringify(ranking).length));
});
