import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Duration } from './duration.ts';
import { isKind } from './errors.ts';

test('parse reads and toString prints as Go does', () => {
  const table: readonly (readonly [string, bigint, string])[] = [
    ['0', 0n, '0s'],
    ['-0', 0n, '0s'],
    ['0s', 0n, '0s'],
    ['1ns', 1n, '1ns'],
    ['1us', 1_000n, '1\u00b5s'],
    ['1.5\u00b5s', 1_500n, '1.5\u00b5s'],
    ['1\u03bcs', 1_000n, '1\u00b5s'],
    ['300ms', 300_000_000n, '300ms'],
    ['1.5s', 1_500_000_000n, '1.5s'],
    ['.5s', 500_000_000n, '500ms'],
    ['1.s', 1_000_000_000n, '1s'],
    ['-2s', -2_000_000_000n, '-2s'],
    ['+2s', 2_000_000_000n, '2s'],
    ['1m30s', 90_000_000_000n, '1m30s'],
    ['2m', 120_000_000_000n, '2m0s'],
    ['1.5h', 5_400_000_000_000n, '1h30m0s'],
    ['4h', 14_400_000_000_000n, '4h0m0s'],
    ['90m', 5_400_000_000_000n, '1h30m0s'],
    ['1h1m1.001s', 3_661_001_000_000n, '1h1m1.001s'],
    ['-1h', -3_600_000_000_000n, '-1h0m0s'],
    ['9223372036854775807ns', 9223372036854775807n, '2562047h47m16.854775807s'],
    ['-9223372036854775808ns', -9223372036854775808n, '-2562047h47m16.854775808s'],
    ['0.3333333333333333333h', 1_200_000_000_000n - 1n, '19m59.999999999s'],
  ];
  for (const [text, nanos, printed] of table) {
    assert.equal(Duration.parse(text).nanos, nanos, text);
    assert.equal(Duration.parse(text).toString(), printed, text);
  }
});

test('what is no duration is refused', () => {
  const table = [
    '',
    '1',
    '-',
    '+',
    's',
    '.s',
    '1d',
    '1 s',
    '1s ',
    ' 1s',
    '--1s',
    '1e3s',
    '9223372036854775808ns',
    '9999999h',
    '1.2.3s',
  ];
  for (const text of table)
    assert.throws(
      () => Duration.parse(text),
      (error) => isKind(error, 'invalid'),
      text,
    );
});

test('numbers in and out', () => {
  assert.equal(Duration.ofMillis(1500).toString(), '1.5s');
  assert.equal(Duration.ofSeconds(0.25).toString(), '250ms');
  assert.equal(Duration.ofNanos(5n).toString(), '5ns');
  assert.equal(Duration.parse('1m').toMillis(), 60_000);
  assert.equal(Duration.parse('1m').toSeconds(), 60);
  assert.throws(() => Duration.ofSeconds(Number.POSITIVE_INFINITY));
  assert.throws(() => Duration.ofSeconds(1e12));
  assert.equal(Duration.parse('1s').compare(Duration.parse('1000ms')), 0);
  assert.equal(Duration.parse('-1s').compare(Duration.zero), -1);
  assert.equal(JSON.stringify([Duration.parse('60s')]), '["1m0s"]');
});
