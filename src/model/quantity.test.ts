import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKind } from '../base/errors.ts';
import { Quantity } from './quantity.ts';

test('canonical text keeps the family and uses the largest whole suffix', () => {
  const table: readonly (readonly [string | number, string])[] = [
    ['0', '0'],
    ['0Gi', '0'],
    ['-0', '0'],
    ['1', '1'],
    [2, '2'],
    [0.5, '500m'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['1.', '1'],
    ['+1', '1'],
    ['-1.5', '-1500m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['100n', '100n'],
    ['1000u', '1m'],
    ['1000', '1k'],
    ['1000k', '1M'],
    ['1024', '1024'],
    ['1024Ki', '1Mi'],
    ['0.5Gi', '512Mi'],
    ['1.5Gi', '1536Mi'],
    ['512Ki', '512Ki'],
    ['0.5Ki', '512'],
    ['0.1Ki', '102400m'],
    ['1.1Ki', '1127'],
    ['10E', '9223372036854775807'],
    ['9Ei', '9223372036854775807'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['10e3', '10e3'],
    ['1e4', '10e3'],
    ['1e-3', '1e-3'],
    ['1.5e3', '1500'],
    ['1E', '1E'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['1e-99999', '1e-9'],
  ];
  for (const [input, printed] of table) assert.equal(Quantity.parse(input).toString(), printed, String(input));
});

test('what is no quantity is refused', () => {
  for (const text of [
    '',
    ' 1',
    '1 ',
    '.',
    '+',
    '1e',
    '1.5.1',
    '1ki',
    '1KI',
    '1mi',
    'Ki',
    '0x10',
    '1,5',
    '1e1.5',
    'NaN',
  ]) {
    assert.throws(
      () => Quantity.parse(text),
      (error) => isKind(error, 'invalid'),
      text,
    );
  }
});

test('value and milliValue round up', () => {
  assert.equal(Quantity.parse('1500m').value(), 2n);
  assert.equal(Quantity.parse('1n').milliValue(), 1n);
  assert.equal(Quantity.parse('-1500m').value(), -2n);
  assert.equal(Quantity.parse('1.5Gi').value(), 1610612736n);
  assert.equal(Quantity.parse('2').milliValue(), 2000n);
  assert.equal(Quantity.ofMilli(2500n).value(), 3n);
  assert.equal(Quantity.ofValue(9007199254740993n).value(), 9007199254740993n);
});

test('sums keep the format of the left side unless it is nothing', () => {
  assert.equal(Quantity.parse('1Gi').add(Quantity.parse('1')).toString(), '1073741825');
  assert.equal(Quantity.parse('1Gi').add(Quantity.parse('1073741824')).toString(), '2Gi');
  assert.equal(Quantity.parse('0').add(Quantity.parse('1Gi')).toString(), '1Gi');
  assert.equal(Quantity.parse('2').sub(Quantity.parse('500m')).toString(), '1500m');
  assert.equal(Quantity.parse('1').sub(Quantity.parse('1')).isZero(), true);
  assert.equal(Quantity.parse('1').sub(Quantity.parse('2')).sign(), -1);
});

test('compare goes by amount, not by spelling', () => {
  assert.equal(Quantity.parse('1Gi').compare(Quantity.parse('1073741824')), 0);
  assert.ok(Quantity.parse('1G').compare(Quantity.parse('1Gi')) < 0);
  assert.equal(JSON.stringify({ q: Quantity.parse('1000m') }), '{"q":"1"}');
});
