import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dump } from 'js-yaml';
import { parseYamlDocuments, YamlError } from './yaml.ts';

const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => value !== null);

/** Integers beyond exact numbers are read as bigint, which JSON has no word for. */
function plain(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? Number(item) : item));
}

test('what JSON prints is read back', () => {
  fc.assert(
    fc.property(json, fc.constantFrom('', '  ', '\t'), (value, indent) => {
      const [document] = parseYamlDocuments(JSON.stringify(value, undefined, indent));
      assert.equal(plain(document?.value), JSON.stringify(value));
    }),
  );
});

/** Go takes underscores in numbers of every kind, and so do we; the writer below does not, and leaves such texts bare. */
const withoutOddNumbers = json.filter((value) => !/"[-+.0-9][^"]*_/.test(JSON.stringify(value)));

test('what a careful YAML writer prints is read back', () => {
  fc.assert(
    fc.property(withoutOddNumbers, (value) => {
      const [document] = parseYamlDocuments(dump(value));
      assert.equal(plain(document?.value), JSON.stringify(value));
    }),
  );
});

test('arbitrary text gives documents or a YamlError', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'ab:-\n {}[]&*!<?|>"\'#,%@\t01'.split('')), maxLength: 60 }),
      (text) => {
        try {
          for (const document of parseYamlDocuments(text)) assert.ok(document.lineOf(['a', 0]) >= 1);
        } catch (error) {
          assert.ok(error instanceof YamlError, String(error));
          assert.ok(error.line >= 1 && error.column >= 1);
        }
      },
    ),
    { numRuns: 1000 },
  );
});
