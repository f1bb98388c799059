import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TubeletError } from '../base/errors.ts';
import { errorOfStatus } from './api-error.ts';
import { isOlder, stepAfter, WentBackwards, type NextStep, type WatchEnding } from './watch-ending.ts';

const failed = (error: unknown): WatchEnding => ({ how: 'failed', error });
const statusOf = (code: number, reason: string, causes: readonly string[] = []) =>
  errorOfStatus('WATCH pods', { code, reason, details: { causes: causes.map((cause) => ({ reason: cause })) } });

const table: readonly (readonly [string, WatchEnding, NextStep['from'], boolean])[] = [
  ['an end in order', { how: 'ended', livedMs: 300_000 }, 'watch', false],
  ['an end at once', { how: 'ended', livedMs: 10 }, 'list', true],
  ['silence', { how: 'stale' }, 'list', false],
  ['a broken connection', failed(new TubeletError('unavailable', 'x')), 'list', true],
  ['garbage', failed(new TubeletError('invalid', 'x')), 'list', true],
  ['a surprise', failed(new Error('x')), 'list', true],
  ['410', failed(statusOf(410, 'Expired')), 'newestList', false],
  [
    'a version the server does not know',
    failed(statusOf(504, 'Timeout', ['ResourceVersionTooLarge'])),
    'newestList',
    false,
  ],
  ['an older version', failed(new WentBackwards('9', '8')), 'newestList', false],
  ['pushback', failed(statusOf(429, 'TooManyRequests')), 'list', true],
  ['a refusal', failed(statusOf(403, 'Forbidden')), 'list', true],
];
for (const [name, ending, from, backOff] of table) {
  test(`after ${name}`, () => assert.deepEqual(stepAfter(ending), { from, backOff, reset: ending.how === 'stale' }));
}

test('versions are compared as numbers, and others not at all', () => {
  assert.ok(isOlder('99', '100') && isOlder('8', '9') && isOlder('18446744073709551614', '18446744073709551615'));
  assert.ok(!isOlder('9', '9') && !isOlder('10', '9') && !isOlder('a', 'b') && !isOlder('', '1') && !isOlder('1', ''));
});
