import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeLogOptions, sinceOf } from './log-options.ts';

const decode = (query: string): unknown => {
  const decoded = decodeLogOptions(new URLSearchParams(query));
  return decoded.kind === 'options' ? decoded.options : decoded;
};
const none = { follow: false, previous: false, timestamps: false };

describe('a query', () => {
  const good: readonly (readonly [string, object])[] = [
    ['', {}],
    ['follow=true&previous=1&timestamps=TRUE', { follow: true, previous: true, timestamps: true }],
    ['follow=false&previous=0&timestamps=False', {}],
    ['follow', { follow: true }],
    ['follow=no', { follow: true }],
    ['tailLines=0', { tailLines: 0 }],
    ['tailLines=%2B5&tailLines=7', { tailLines: 5 }],
    ['tail=3', { tailLines: 3 }],
    ['tail=3&tailLines=9', { tailLines: 3 }],
    ['tail=all&tailLines=9', {}],
    ['tail=&tailLines=9', { tailLines: 9 }],
    ['limitBytes=1', { limitBytes: 1 }],
    ['limitBytes=9223372036854775807', { limitBytes: Number.MAX_SAFE_INTEGER }],
    ['sinceSeconds=60', { sinceSeconds: 60 }],
    ['sinceTime=', {}],
    ['sinceTime=null', {}],
    ['sinceTime=1970-01-01T01:00:00.5%2B01:00', { sinceTime: { seconds: 0, nanos: 500_000_000, offsetMinutes: 60 } }],
    ['stream=All&tailLines=1', { tailLines: 1 }],
    ['stream=Stdout', { stream: 'stdout' }],
    ['stream=Stderr&limitBytes=5', { stream: 'stderr', limitBytes: 5 }],
    ['container=x&insecureSkipTLSVerifyBackend=true&whatever=1', {}],
  ];
  for (const [query, options] of good) {
    test(`is read: ${query}`, () => assert.deepEqual(decode(query), { ...none, ...options }));
  }

  const undecodable = [
    'tailLines=x',
    'tailLines=',
    'tail=x',
    'tailLines=1.5',
    'tailLines=9223372036854775808',
    'limitBytes=1e3',
    'sinceSeconds=0x10',
    'sinceTime=yesterday',
    'sinceTime=2026-01-01',
    'sinceTime=2026-02-29T00:00:00Z',
    `tailLines=${'9'.repeat(100_000)}`,
  ];
  for (const query of undecodable) {
    test(`is not understood: ${query.slice(0, 40)}`, () => {
      const body = '{"message": "Unable to decode query."}';
      assert.deepEqual(decode(query), { kind: 'refused', status: 400, body });
    });
  }

  const invalid = [
    'tailLines=-1',
    'limitBytes=0',
    'sinceSeconds=0',
    'sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z',
    'sinceSeconds=1&sinceTime=',
    'stream=stdout',
    'stream=',
    'stream=constructor',
    'stream=Stdout&tailLines=1',
    'stream=Stderr&tail=1',
  ];
  for (const query of invalid) {
    test(`is refused: ${query}`, () => {
      assert.deepEqual(decode(query), { kind: 'refused', status: 422, body: '{"message": "Invalid request."}' });
    });
  }
});

test('seconds are counted back from now', () => {
  assert.deepEqual(sinceOf({ ...none, sinceSeconds: 2 }, 10_250), { seconds: 8, nanos: 250_000_000, offsetMinutes: 0 });
  const sinceTime = { seconds: 1, nanos: 2, offsetMinutes: 0 };
  assert.equal(sinceOf({ ...none, sinceTime }, 10_250), sinceTime);
  assert.equal(sinceOf(none, 10_250), undefined);
});
