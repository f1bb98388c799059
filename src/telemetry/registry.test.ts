import assert from 'node:assert/strict';
import { test } from 'node:test';
import { floatText } from './exposition.ts';
import { exponentialBuckets } from './histogram.ts';
import { Registry } from './registry.ts';

test('families are sorted, labels escaped and sorted, help carries the stability', () => {
  const registry = new Registry();
  const gauge = registry.gauge({ name: 'b_gauge', help: 'Back\\slash and\nline', labels: ['zone', 'area'] });
  gauge.set(2, { zone: 'z', area: 'b' });
  gauge.set(1.5, { zone: 'say "hi"\n\\', area: 'a' });
  registry.counter({ name: 'a_total', help: 'Counts.', stability: 'ALPHA' }).inc();
  registry.counter({ name: 'never_total', help: 'No series yet.', labels: ['x'] });
  assert.equal(
    registry.render(),
    [
      '# HELP a_total [ALPHA] Counts.',
      '# TYPE a_total counter',
      'a_total 1',
      '# HELP b_gauge Back\\\\slash and\\nline',
      '# TYPE b_gauge gauge',
      'b_gauge{area="a",zone="say \\"hi\\"\\n\\\\"} 1.5',
      'b_gauge{area="b",zone="z"} 2',
      '',
    ].join('\n'),
  );
});

test('a histogram adds its buckets up', () => {
  const registry = new Registry();
  const histogram = registry.histogram({
    name: 'h_seconds',
    help: 'H.',
    stability: 'STABLE',
    labels: ['op'],
    buckets: [0.25, 1, 2.5],
  });
  for (const value of [0.25, 0.5, 1, 7]) histogram.observe(value, { op: 'x' });
  assert.equal(
    registry.render(),
    [
      '# HELP h_seconds [STABLE] H.',
      '# TYPE h_seconds histogram',
      'h_seconds_bucket{op="x",le="0.25"} 1',
      'h_seconds_bucket{op="x",le="1"} 3',
      'h_seconds_bucket{op="x",le="2.5"} 3',
      'h_seconds_bucket{op="x",le="+Inf"} 4',
      'h_seconds_sum{op="x"} 8.75',
      'h_seconds_count{op="x"} 4',
      '',
    ].join('\n'),
  );
  assert.throws(() => registry.histogram({ name: 'bad', help: '', buckets: [1, 1] }), RangeError);
  assert.throws(() => registry.histogram({ name: 'bad', help: '', buckets: [1], labels: ['le'] }), RangeError);
});

test('metrics without labels are there from the start', () => {
  const registry = new Registry();
  registry.histogram({ name: 'h', help: 'h', buckets: [1] });
  registry.gauge({ name: 'g', help: 'g' });
  assert.match(registry.render(), /\ng 0\n[^]*h_bucket\{le="\+Inf"\} 0\nh_sum 0\nh_count 0\n$/);
});

test('series can be taken out of a gauge', () => {
  const registry = new Registry();
  const gauge = registry.gauge({ name: 'g', help: 'g', labels: ['l'] });
  gauge.set(1, { l: 'a' });
  gauge.add(2, { l: 'b' });
  gauge.remove({ l: 'a' });
  assert.match(registry.render(), /gauge\ng\{l="b"\} 2\n$/);
  gauge.clear();
  assert.equal(registry.render(), '');
});

test('observed metrics are read at scrape time, with timestamps where they have them', () => {
  const registry = new Registry();
  let value = 1;
  registry.observed({ name: 'o', help: 'o', type: 'gauge', labels: ['c'] }, () => [
    { labels: { c: 'y' }, value: 5, timestamp: 1_700_000_000_000 },
    { labels: { c: 'x' }, value: value++ },
  ]);
  assert.match(registry.render(), /gauge\no\{c="x"\} 1\no\{c="y"\} 5 1700000000000\n$/);
  assert.match(registry.render(), /o\{c="x"\} 2\n/);
});

test('a reader that throws costs its family, and the error is reported', () => {
  const reported: string[] = [];
  const registry = new Registry({ onReadError: (error, metric) => reported.push(`${metric}: ${String(error)}`) });
  registry.observed({ name: 'o', help: 'o', type: 'counter' }, () => {
    throw new Error('gone');
  });
  registry.counter({ name: 'c_total', help: 'c' });
  assert.match(registry.render(), /^# HELP c_total c\n# TYPE c_total counter\nc_total 0\n$/);
  assert.deepEqual(reported, ['o: Error: gone']);
  const strict = new Registry();
  strict.observed({ name: 'o', help: 'o', type: 'counter' }, () => assert.fail('gone'));
  assert.throws(() => strict.render(), /gone/);
});

test('names are checked, and each name is taken once', () => {
  const registry = new Registry();
  registry.counter({ name: 'a', help: '' });
  assert.throws(() => registry.gauge({ name: 'a', help: '' }), { kind: 'alreadyExists' });
  assert.throws(() => registry.gauge({ name: '1a', help: '' }), { kind: 'invalid' });
  assert.throws(() => registry.gauge({ name: 'b', help: '', labels: ['l-m'] }), { kind: 'invalid' });
  const counter = registry.counter({ name: 'c', help: '', labels: ['l'] });
  assert.throws(() => counter.add(-1, { l: 'x' }), RangeError);
  assert.throws(() => counter.inc({} as { l: string }), /label l/);
});

// What Go's strconv.FormatFloat(value, 'g', -1, 64) writes.
const floats: [number, string][] = [
  [0, '0'],
  [-0, '-0'],
  [1, '1'],
  [-12.25, '-12.25'],
  [123456, '123456'],
  [999999.5, '999999.5'],
  [1_000_000, '1e+06'],
  [1234567, '1.234567e+06'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [1.7e300, '1.7e+300'],
  [Infinity, '+Inf'],
  [-Infinity, '-Inf'],
  [NaN, 'NaN'],
];
for (const [value, text] of floats) test(`number ${text}`, () => assert.equal(floatText(value), text));

test('exponential buckets', () => {
  assert.deepEqual(exponentialBuckets(0.5, 2, 4), [0.5, 1, 2, 4]);
});

test('a page is made in slices, and is the same as at once', async () => {
  const registry = new Registry();
  const gauge = registry.gauge({ name: 'g', help: 'g', labels: ['l'] });
  for (let index = 0; index < 5_000; index++) gauge.set(index, { l: `${index} ${'x'.repeat(40)}` });
  const expected = registry.render();
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns++;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  assert.equal(await registry.page(), expected);
  isDone = true;
  assert.ok(turns >= Math.floor(expected.length / (64 * 1_024)), `${turns} turns of others`);
  const slices: string[] = [];
  for await (const slice of registry.slices()) {
    if (slices.length === 0) gauge.clear();
    slices.push(slice);
  }
  assert.equal(slices.join(''), expected, 'series that are removed meanwhile are written to the end');
});

test('what takes time is read before the page, and a failure does not prevent the page', async () => {
  const reported: string[] = [];
  const registry = new Registry({ onReadError: (error, metric) => reported.push(`${metric}: ${String(error)}`) });
  let value = 0;
  registry.observed({ name: 'o', help: 'o', type: 'gauge' }, () => [{ labels: {}, value }]);
  registry.beforePage(async () => void (value = 7));
  registry.beforePage(() => Promise.reject(new Error('no answer')));
  assert.match(await registry.page(), /\no 7\n/);
  assert.deepEqual(reported, ['before the page: Error: no answer']);
  const strict = new Registry();
  strict.beforePage(() => Promise.reject(new Error('no answer')));
  await assert.rejects(strict.page(), /no answer/);
});

test('a summary shows quantiles, sum and count', () => {
  const registry = new Registry();
  registry.summary({ name: 's_seconds', help: 's' }, () => ({
    quantiles: [
      [0.5, 1.5],
      [1, 2],
    ],
    sum: 10,
    count: 4,
  }));
  assert.equal(
    registry.render(),
    [
      '# HELP s_seconds s',
      '# TYPE s_seconds summary',
      's_seconds{quantile="0.5"} 1.5',
      's_seconds{quantile="1"} 2',
      's_seconds_sum 10',
      's_seconds_count 4',
      '',
    ].join('\n'),
  );
});

test('families have name and type without being read', () => {
  const registry = new Registry();
  registry.histogram({ name: 'h', help: 'h', buckets: [1, Infinity], labels: ['b', 'a'], stability: 'BETA' });
  registry.observed({ name: 'o', help: 'o', type: 'counter' }, () => assert.fail('read'));
  assert.deepEqual(registry.families(), [
    { name: 'h', type: 'histogram', stability: 'BETA', labels: ['a', 'b'], buckets: [1] },
    { name: 'o', type: 'counter', stability: undefined, labels: [], buckets: undefined },
  ]);
});
