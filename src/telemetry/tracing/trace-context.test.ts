import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTraceparent, isSampled, parseTraceparent } from './trace-context.ts';

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = '00f067aa0ba902b7';

const rows: readonly [string | undefined, boolean | undefined][] = [
  [`00-${trace}-${span}-01`, true],
  [`00-${trace}-${span}-00`, false],
  [`00-${trace}-${span}-03`, true],
  [`01-${trace}-${span}-01-more`, true],
  [`00-${trace}-${span}-01-more`, undefined],
  [`ff-${trace}-${span}-01`, undefined],
  [`00-${'0'.repeat(32)}-${span}-01`, undefined],
  [`00-${trace}-${'0'.repeat(16)}-01`, undefined],
  [`00-${trace.toUpperCase()}-${span}-01`, undefined],
  ['', undefined],
  ['nonsense', undefined],
  [undefined, undefined],
];

for (const [header, sampled] of rows) {
  test(`traceparent ${header}`, () => {
    const context = parseTraceparent(header);
    assert.deepEqual(context, sampled === undefined ? undefined : { traceId: trace, spanId: span, sampled });
  });
}

test('what is written can be read', () => {
  const context = { traceId: trace, spanId: span, sampled: true };
  assert.deepEqual(parseTraceparent(formatTraceparent(context)), context);
  assert.equal(formatTraceparent({ ...context, sampled: false }), `00-${trace}-${span}-00`);
});

test('a share of all traces is sampled, each the same way every time', () => {
  assert.equal(isSampled(trace, 0), false);
  assert.equal(isSampled(`${'0'.repeat(19)}${'f'.repeat(13)}`, 1_000_000), true);
  assert.equal(isSampled(`${'0'.repeat(19)}7ffffffffffff`, 500_000), true);
  assert.equal(isSampled(`${'0'.repeat(19)}8000000000000`, 500_000), false);
});
