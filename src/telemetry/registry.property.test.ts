import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Registry } from './registry.ts';

interface Parsed {
  readonly help: string;
  readonly type: string;
  readonly samples: Map<string, number>;
}

/** A reader of the text format, written from its description and not from the writer. */
function parse(page: string): Map<string, Parsed> {
  const families = new Map<string, Parsed>();
  let help = '';
  let current: Parsed | undefined;
  for (const line of page.split('\n').slice(0, -1)) {
    if (line.startsWith('# HELP ')) help = unescape(line.split(' ').slice(3).join(' '));
    else if (line.startsWith('# TYPE ')) {
      const [, , name = '', type = ''] = line.split(' ');
      current = { help, type, samples: new Map() };
      assert.ok(!families.has(name));
      families.set(name, current);
    } else parseSample(line, current!);
  }
  return families;
}

function parseSample(line: string, family: Parsed): void {
  const name = /^[a-z_]+/.exec(line)![0];
  let at = name.length;
  const labels: [string, string][] = [];
  if (line[at] === '{') {
    do {
      at++;
      const [whole, label = '', value = ''] = /^([a-z_]+)="((?:[^"\\]|\\.)*)"/su.exec(line.slice(at))!;
      labels.push([label, unescape(value)]);
      at += whole.length;
    } while (line[at] === ',');
    assert.equal(line[at++], '}');
  }
  const number = line.slice(at + 1);
  const value = number === '+Inf' ? Infinity : number === '-Inf' ? -Infinity : Number(number);
  const key = `${name} ${JSON.stringify(labels)}`;
  assert.ok(!family.samples.has(key), 'each series once');
  family.samples.set(key, value);
}

const unescape = (text: string) => text.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));

const letters = fc.string({
  unit: fc.constantFrom('a', 'b', '"', '\\', '\n', ' ', ',', '}', '=', 'ü', '\u0000'),
  maxLength: 5,
});
const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Infinity, -Infinity, NaN, 0));

test('what is rendered reads back as it was set', () => {
  fc.assert(
    fc.property(letters, fc.array(fc.tuple(letters, letters, number), { maxLength: 12 }), (help, settings) => {
      const registry = new Registry();
      const gauge = registry.gauge({ name: 'g', help, labels: ['b', 'a'] });
      const expected = new Map<string, number>();
      for (const [a, b, value] of settings) {
        gauge.set(value, { a, b });
        expected.set(
          `g ${JSON.stringify([
            ['a', a],
            ['b', b],
          ])}`,
          value,
        );
      }
      const family = parse(registry.render()).get('g');
      assert.equal(family?.help ?? help, help);
      assert.deepEqual(family?.samples ?? new Map(), expected);
    }),
  );
});

test('buckets rise to the count, and each holds what is not above its bound', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.double({ min: -50, max: 50, noNaN: true }), { maxLength: 8 }),
      fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { maxLength: 30 }),
      (bounds, values) => {
        const registry = new Registry();
        const sorted = [...bounds]
          .sort((a, b) => a - b)
          .filter((bound, index, all) => index === 0 || bound > all[index - 1]!);
        const histogram = registry.histogram({ name: 'h', help: 'h', buckets: sorted });
        for (const value of values) histogram.observe(value);
        const samples = [...parse(registry.render()).get('h')!.samples];
        assert.equal(samples.length, sorted.length + 3);
        for (const [index, bound] of [...sorted, Infinity].entries()) {
          const [key, count] = samples[index]!;
          const [[, le]] = JSON.parse(key.replace('h_bucket ', '')) as [[string, string]];
          assert.equal(le === '+Inf' ? Infinity : Number(le), bound);
          assert.equal(count, values.filter((value) => value <= bound).length);
        }
        assert.equal(samples.at(-1)![1], values.length);
      },
    ),
  );
});
