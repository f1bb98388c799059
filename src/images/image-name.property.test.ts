import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { completeImageName } from './image-name.ts';

const part = fc.stringMatching(/^[a-z0-9]{1,6}((\.|_|__|-)[a-z0-9]{1,4}){0,2}$/);
const host = fc.constantFrom('', 'localhost/', 'localhost:5000/', 'example.com/', '10.0.0.1:80/', '[::1]:5000/');
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const tag = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,12}$/).map((text) => `:${text}`);
const digest = fc.stringMatching(/^[0-9a-f]{64}$/).map((text) => `@sha256:${text}`);
const repository = fc.tuple(host, path).map((pieces) => pieces.join(''));

test('every name of the grammar is accepted; only one without tag and digest gets the default tag', () => {
  const none = fc.constant('');
  fc.assert(
    fc.property(repository, fc.oneof(none, tag), fc.oneof(none, digest), (name, tag, digest) => {
      fc.pre(!/^[0-9a-f]{64}$/.test(name));
      const written = name + tag + digest;
      const expected = tag + digest === '' ? `${written}:latest` : written;
      assert.deepEqual(completeImageName(written), { name: expected });
    }),
  );
});

test('a completed name is complete', () => {
  fc.assert(
    fc.property(fc.oneof(repository, fc.string(), fc.string({ unit: 'grapheme' })), (written) => {
      const once = completeImageName(written);
      if ('name' in once) assert.deepEqual(completeImageName(once.name), once);
      else assert.match(once.invalid, /^couldn't parse image name "/);
    }),
  );
});

test('no accepted name has a character that registries refuse', () => {
  const bad = fc.constantFrom(' ', '\n', '\t', '"', '$', '?', '#', '%', '\\', 'ä', '\u0000');
  fc.assert(
    fc.property(repository, bad, fc.nat(), (name, character, at) => {
      const index = at % (name.length + 1);
      assert.equal('invalid' in completeImageName(name.slice(0, index) + character + name.slice(index)), true);
    }),
  );
});

test('long invalid names are refused quickly: a pattern that backtracks would never finish', () => {
  for (const text of [`${'a'.repeat(50_000)}!`, 'a-'.repeat(25_000), 'a/'.repeat(25_000), '__'.repeat(25_000)]) {
    assert.equal('invalid' in completeImageName(text), true);
  }
});
