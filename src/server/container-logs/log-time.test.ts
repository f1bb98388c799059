import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatRest, formatSecond, isBefore, parseLogTime, type LogTime } from './log-time.ts';

const printed = (time: LogTime): string => formatSecond(time) + formatRest(time);

describe('a time', () => {
  const good: readonly (readonly [string, string])[] = [
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000000Z'],
    ['2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.500000000Z'],
    ['2026-01-01T00:00:00,25Z', '2026-01-01T00:00:00.250000000Z'],
    ['2026-01-01T00:00:00.1234567899Z', '2026-01-01T00:00:00.123456789Z'],
    ['2024-02-29T23:59:59.000000001+02:00', '2024-02-29T23:59:59.000000001+02:00'],
    ['2026-01-01T00:00:00-05:30', '2026-01-01T00:00:00.000000000-05:30'],
    ['2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00.000000000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000000Z'],
  ];
  for (const [text, shown] of good) {
    test(`is read: ${text}`, () => {
      const time = parseLogTime(text);
      assert.ok(time);
      assert.equal(printed(time), shown);
    });
  }

  const bad = [
    '',
    'now',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00Zx',
    '2026-13-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01 00:00:00Z',
    '2026-01-01T00:00:00+0200',
    '2026-01-01T00:00:00+24:00',
    '2o26-01-01T00:00:00Z',
  ];
  for (const text of bad) test(`is none: "${text}"`, () => assert.equal(parseLogTime(text), undefined));

  test('agrees with the calendar of this language', () => {
    const moments = fc.integer({ min: Date.UTC(0, 0, 1), max: Date.UTC(9998, 11, 31) });
    fc.assert(
      fc.property(moments, fc.integer({ min: -1_439, max: 1_439 }), (ms, offsetMinutes) => {
        const seconds = Math.floor(ms / 1_000);
        const shown = printed({ seconds, nanos: 7, offsetMinutes });
        assert.equal(Math.floor(Date.parse(shown) / 1_000), seconds);
        assert.deepEqual(parseLogTime(shown), { seconds, nanos: 7, offsetMinutes });
      }),
    );
  });

  test('is before another by nanoseconds', () => {
    const [early, late] = ['2026-01-01T01:00:00.000000001+01:00', '2026-01-01T00:00:00.000000002Z'].map(parseLogTime);
    assert.ok(early && late);
    assert.ok(isBefore(early, late));
    assert.ok(!isBefore(late, early));
    assert.ok(!isBefore(early, early));
  });
});
