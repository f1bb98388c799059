import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  blkio,
  fieldOf,
  ioStat,
  keyValuesOf,
  limitOf,
  numberOf,
  pressureOf,
  processIdsOf,
} from './cgroup-usage-text.ts';

test('fields are found by their whole name at the beginning of a line', () => {
  const text = 'cache 1\nrss_huge 2\nrss 3\ntotal_cache 4\nbtime: 5\nempty \n';
  const cases: readonly (readonly [string, number | undefined])[] = [
    ['cache', 1],
    ['rss', 3],
    ['rss_huge', 2],
    ['total_cache', 4],
    ['btime', 5],
    ['huge', undefined],
    ['empty', undefined],
    ['other', undefined],
  ];
  for (const [key, expected] of cases) assert.equal(fieldOf(text, key), expected, key);
  assert.equal(fieldOf('', 'cache'), undefined);
});

test('numbers and limits', () => {
  assert.equal(numberOf('123\n'), 123);
  assert.equal(numberOf('max\n'), undefined);
  assert.equal(numberOf('-1\n'), undefined);
  assert.equal(numberOf(undefined), undefined);
  assert.equal(limitOf('9223372036854771712\n'), undefined);
  assert.equal(limitOf('67108864\n'), 67108864);
  assert.equal(limitOf('max\n'), undefined);
  assert.equal(limitOf('0\n'), 0);
});

test('key values: lines with a key and a number', () => {
  assert.deepEqual(
    [...keyValuesOf('cache 1\nrss 9007199254740991\nswap max\nempty \nbare\n total 3\n')],
    [
      ['cache', 1],
      ['rss', Number.MAX_SAFE_INTEGER],
    ],
  );
  assert.equal(keyValuesOf('').size, 0);
});

test('processes, without those of foreign namespaces', () => {
  assert.deepEqual(processIdsOf('1\n0\n4194304\n'), [1, 4_194_304]);
  assert.deepEqual(processIdsOf('10\n7'), [10, 7]);
  assert.deepEqual(processIdsOf('\nx\n-3\n'), []);
  assert.deepEqual(processIdsOf(''), []);
});

test('pressure, also from kernels that report one line', () => {
  const none = { totalUs: 0, avg10: 0, avg60: 0, avg300: 0 };
  assert.deepEqual(pressureOf('some avg10=1.00 avg60=0.50 avg300=0.25 total=123\n'), {
    some: { totalUs: 123, avg10: 1, avg60: 0.5, avg300: 0.25 },
    full: none,
  });
  assert.equal(pressureOf(''), undefined);
  assert.equal(pressureOf(undefined), undefined);
});

test('devices of both versions', () => {
  const names = new Map([['8:0', '/dev/sda']]);
  const sda = { major: 8, minor: 0, device: '/dev/sda', readBytes: 10, writeBytes: 20, reads: 1, writes: 2 };
  const bytes = '8:0 Read 10\n8:0 Write 20\n8:0 Sync 5\n8:0 Total 30\nTotal 30\n';
  assert.deepEqual(blkio(bytes, '8:0 Read 1\n8:0 Write 2\nTotal 3\n', names), [sda]);
  assert.deepEqual(blkio('Total 0\n', 'Total 0\n', names), []);
  assert.deepEqual(blkio(undefined, undefined, names), []);
  assert.deepEqual(ioStat('8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n7:0 \n', names), [sda]);
  assert.deepEqual(ioStat('9:1 rbytes=1 wbytes=0 rios=1 wios=0\n', names)[0]?.device, '');
});
