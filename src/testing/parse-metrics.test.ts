import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Registry } from '../telemetry/index.ts';
import { MetricsFormatError, parseMetrics, shapeOf, shapeRows } from './parse-metrics.ts';

const page = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
const gauge = ['# HELP g Help.', '# TYPE g gauge'];
const histogram = ['# HELP h Help.', '# TYPE h histogram'];

describe('parseMetrics', () => {
  it('reads names, types, labels, values and timestamps', () => {
    const parsed = parseMetrics(
      page(
        String.raw`# HELP g A back\\slash\nand a line`,
        '# TYPE g gauge',
        String.raw`g{a="1",b="\"quoted\" \\ and\nmore, }"} 1.5e+06 -1234`,
        'g -Inf',
        '',
        '# a comment',
        '# HELP c_total ',
        '# TYPE c_total counter',
        'c_total{} NaN',
      ),
    );
    assert.deepEqual([...parsed.keys()], ['g', 'c_total']);
    assert.equal(parsed.get('g')?.help, 'A back\\slash\nand a line');
    assert.deepEqual(parsed.get('g')?.samples, [
      {
        name: 'g',
        labels: new Map([
          ['a', '1'],
          ['b', '"quoted" \\ and\nmore, }'],
        ]),
        value: 1_500_000,
        timestamp: -1234,
      },
      { name: 'g', labels: new Map(), value: Number.NEGATIVE_INFINITY, timestamp: undefined },
    ]);
    assert.ok(Number.isNaN(parsed.get('c_total')?.samples[0]?.value));
  });

  const bad: readonly (readonly [title: string, lines: readonly string[], says: RegExp])[] = [
    ['a sample without HELP and TYPE', ['g 1'], /line 1: g is not among/],
    ['a sample without TYPE', ['# HELP g Help.', 'g 1'], /line 2: g comes without HELP or TYPE/],
    ['a family without samples', gauge, /g has no samples/],
    ['TYPE behind samples', ['# HELP g Help.', '# TYPE g gauge', 'g 1', '# TYPE g gauge'], /line 4: HELP or TYPE of g/],
    ['two HELPs', ['# HELP g Help.', ...gauge, 'g 1'], /line 2: a second HELP for g/],
    ['an unknown type', ['# HELP g Help.', '# TYPE g gouge', 'g 1'], /line 2: g gouge is no name with a type/],
    [
      'a family in two places',
      [...gauge, 'g 1', '# HELP f F.', '# TYPE f gauge', 'f 1', ...gauge],
      /g is in two places/,
    ],
    ['a foreign sample', [...gauge, 'f 1'], /line 3: f is not among/],
    ['a series twice', [...gauge, 'g{a="1",b="2"} 1', 'g{b="2",a="1"} 2'], /line 4: a second/],
    ['a label twice', [...gauge, 'g{a="1",a="2"} 1'], /the label a twice/],
    ['a bad label name', [...gauge, 'g{1a="1"} 1'], /no label at column 3/],
    ['an unknown escape', [...gauge, String.raw`g{a="\t"} 1`], /the label a does not end/],
    ['a label without end', [...gauge, 'g{a="1} 1'], /the label a does not end/],
    ['labels without a space behind', [...gauge, 'g{a="1"}1'], /no space behind the labels/],
    ['a bad value', [...gauge, 'g 0x10'], /"0x10" is no number/],
    ['a bad timestamp', [...gauge, 'g 1 1.5'], /no number with a timestamp/],
    ['a plain sample of a histogram', [...histogram, 'h 1'], /h is not among/],
    ['a histogram without +Inf', [...histogram, 'h_bucket{le="1"} 1', 'h_sum 1', 'h_count 1'], /does not end/],
    ['a shrinking bucket', [...histogram, 'h_bucket{le="1"} 2', 'h_bucket{le="+Inf"} 1'], /less than the one before/],
    [
      'a histogram whose count differs',
      [...histogram, 'h_bucket{le="+Inf"} 1', 'h_sum 1', 'h_count 2'],
      /does not end with its count/,
    ],
  ];
  for (const [title, lines, says] of bad) {
    it(`refuses ${title}`, () => {
      assert.throws(
        () => parseMetrics(page(...lines)),
        (error) => {
          assert.ok(error instanceof MetricsFormatError);
          assert.match(error.message, says);
          return true;
        },
      );
    });
  }

  it('refuses a page whose last line is cut off', () => {
    assert.throws(() => parseMetrics(`${page(...gauge)}g 1`), /does not end with a line feed/);
  });

  it('reads what the registry writes', () => {
    const registry = new Registry();
    registry.counter({ name: 'c_total', help: 'Counts\n"things" \\', labels: ['z', 'a'] }).inc({ z: '1', a: 'x"\\\n' });
    registry.histogram({ name: 'h', help: 'H.', buckets: [0.1, 1], labels: ['l'] }).observe(0.5, { l: 'v' });
    const text = registry.render();
    assert.deepEqual(shapeOf(parseMetrics(text)), ['c_total | counter | a,z', 'h | histogram | l']);
  });
});

describe('shapeOf', () => {
  it('lists label sets in the notation of the records', () => {
    const text = page(
      '# HELP s S.',
      '# TYPE s summary',
      's{quantile="0.5"} 1',
      's_sum 1',
      's_count 1',
      ...histogram,
      'h_bucket{le="+Inf"} 1',
      'h_sum 1',
      'h_count 1',
      ...gauge,
      'g{b="",a=""} 1',
    );
    assert.deepEqual(shapeOf(parseMetrics(text)), [
      'g | gauge | a,b',
      'h | histogram | -',
      's | summary | -; quantile',
    ]);
  });

  it('the records are in that notation', () => {
    for (const name of ['metrics', 'metrics-cadvisor', 'metrics-resource']) {
      const rows = shapeRows(readFileSync(`test/golden/node/${name}.txt`, 'utf8'));
      assert.ok(rows.length > 5);
      for (const row of rows) assert.match(row, /^[a-z_:0-9]+ \| [a-z]+ \| \S+(?:; \S+)*$/i);
    }
  });
});
