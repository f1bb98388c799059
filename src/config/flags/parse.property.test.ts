import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Duration } from '../../base/duration.ts';
import { Quantity } from '../../model/quantity.ts';
import { parseFlags } from './parse.ts';
import type { FlagType, FlagValues } from './spec.ts';
import { flagTable, type FlagName } from './table.ts';

const name = fc.constantFrom(...flagTable.map((spec) => spec.name));
const anyWord = fc.oneof(
  fc.string(),
  name.map((flag) => `--${flag}`),
  fc.tuple(name, fc.string()).map(([flag, value]) => `--${flag}=${value}`),
  fc.constantFrom('--', '-', '-v', '-h', '-vv', '--=', 'false', '1', 'a=b', '0:memory=1Gi', '"'),
);

test('no command line makes the parser throw', () => {
  fc.assert(
    fc.property(fc.array(anyWord, { maxLength: 8 }), (argv) => {
      const { values, faults } = parseFlags(argv);
      assert.ok(faults.every((fault) => fault !== ''));
      assert.ok(values.size <= argv.length);
    }),
    { numRuns: 2000 },
  );
});

const word = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}$/);
const free = fc.string();
const record = <V>(value: fc.Arbitrary<V>): fc.Arbitrary<Record<string, V>> =>
  fc.dictionary(word, value, { maxKeys: 4, noNullPrototype: true });
const pairs = (value: Readonly<Record<string, unknown>>, separator: string): string =>
  Object.entries(value)
    .map(([key, item]) => `${key}${separator}${String(item)}`)
    .join(',');
const listItem = (item: string): string =>
  /[",]/.test(item) || item === '' ? `"${item.replaceAll('"', '""')}"` : item;

/** For each type of flag: values, and how a person would write them. */
const writers: {
  readonly [T in FlagType]: { values: fc.Arbitrary<FlagValues[T]>; write: (value: FlagValues[T]) => string };
} = {
  bool: { values: fc.boolean(), write: String },
  string: { values: free, write: String },
  ip: { values: fc.oneof(fc.ipV4(), fc.ipV6()), write: String },
  int: { values: fc.maxSafeInteger(), write: String },
  int32: { values: fc.integer(), write: String },
  level: { values: fc.nat(), write: String },
  duration: { values: fc.integer().map((millis) => Duration.ofMillis(millis)), write: (value) => value.toString() },
  quantity: {
    values: fc.integer().map((milli) => Quantity.ofMilli(BigInt(milli))),
    write: (value) => value.toString(),
  },
  strings: { values: fc.array(free, { maxLength: 4 }), write: (value) => value.map(listItem).join(',') },
  map: { values: record(word), write: (value) => pairs(value, '=') },
  pairMap: {
    values: record(word).filter((value) => Object.keys(value).length === 1),
    write: (value) => pairs(value, '='),
  },
  angleMap: { values: record(word), write: (value) => pairs(value, '<') },
  labels: { values: record(word), write: (value) => pairs(value, '=') },
  boolMap: { values: record(fc.boolean()), write: (value) => pairs(value, '=') },
  multimap: {
    values: record(fc.array(word, { minLength: 1, maxLength: 3 })),
    write: (value) =>
      Object.entries(value)
        .flatMap(([key, items]) => items.map((item) => `${key}:${item}`))
        .join(','),
  },
  taints: {
    values: fc.uniqueArray(fc.record({ key: word, value: word, effect: fc.constantFrom('NoSchedule', 'NoExecute') }), {
      selector: ({ key, effect }) => `${key}:${effect}`,
      maxLength: 3,
    }),
    write: (value) => value.map((taint) => `${taint.key}=${taint.value}:${taint.effect}`).join(','),
  },
  reservedMemory: {
    values: fc.array(
      fc.record({
        numaNode: fc.nat(8),
        limits: fc.nat().map((amount) => ({ memory: Quantity.ofValue(BigInt(amount)) })),
      }),
      { maxLength: 3 },
    ),
    write: (value) => value.map(({ numaNode, limits }) => `${numaNode}:${pairs(limits, '=')}`).join(';'),
  },
  vmodule: {
    values: fc.array(fc.record({ filePattern: word, verbosity: fc.nat(9) }), { maxLength: 3 }),
    write: (value) => value.map(({ filePattern, verbosity }) => `${filePattern}=${verbosity}`).join(','),
  },
  version: { values: fc.constantFrom('true', 'false', 'raw', 'v1.34.0-x'), write: String },
};

function isBare(type: FlagType): boolean {
  return type === 'bool' || type === 'version';
}

test('every flag parses back, in every spelling and form', () => {
  const given = fc.constantFrom(...flagTable).chain((spec) => {
    const { values, write } = writers[spec.type] as {
      values: fc.Arbitrary<unknown>;
      write: (value: unknown) => string;
    };
    return values.map((value): readonly [FlagName, FlagType, unknown, string] => [
      spec.name,
      spec.type,
      value,
      write(value),
    ]);
  });
  fc.assert(
    fc.property(given, fc.boolean(), fc.boolean(), ([flag, type, value, text], underscores, apart) => {
      const spelt = underscores ? flag.replaceAll('-', '_') : flag;
      const argv = apart && !isBare(type) ? [`--${spelt}`, text] : [`--${spelt}=${text}`];
      const parsed = parseFlags(argv);
      assert.deepEqual(parsed.faults, []);
      assert.equal(JSON.stringify(parsed.values.get(flag)), JSON.stringify(value));
    }),
    { numRuns: 1500 },
  );
});
