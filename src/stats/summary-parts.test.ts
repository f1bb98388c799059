import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimeTexts } from './summary-parts.ts';

test('times are told to the second, whichever came before', () => {
  const times = new TimeTexts();
  const base = Date.UTC(2026, 0, 2, 3, 4, 5);
  const cases: readonly (readonly [number, string])[] = [
    [base, '2026-01-02T03:04:05Z'],
    [base + 999, '2026-01-02T03:04:05Z'],
    [base + 1_000, '2026-01-02T03:04:06Z'],
    [base - 1, '2026-01-02T03:04:04Z'],
    [base + 1_500, '2026-01-02T03:04:06Z'],
    [base, '2026-01-02T03:04:05Z'],
  ];
  for (const [wallMs, expected] of cases) assert.equal(times.of(wallMs), expected);
});
