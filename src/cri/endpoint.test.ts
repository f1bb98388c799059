import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKind } from '../base/errors.ts';
import { parseEndpoint } from './endpoint.ts';

test('unix endpoints in their spellings', () => {
  for (const text of ['unix:///run/a.sock', 'unix:/run/a.sock', 'UNIX:///run/a.sock']) {
    assert.deepEqual(parseEndpoint(text), { url: 'unix:///run/a.sock', socketPath: '/run/a.sock' });
  }
});

test('a bare path works and warns', () => {
  const endpoint = parseEndpoint('/run/a.sock');
  assert.equal(endpoint.url, 'unix:///run/a.sock');
  assert.match(endpoint.warning ?? '', /write "unix:\/\/\/run\/a\.sock"/);
});

const refused: readonly (readonly [string, RegExp])[] = [
  ['', /empty/],
  ['tcp://127.0.0.1:1234', /scheme "tcp" is not supported, .*unix socket/],
  ['npipe:////./pipe/x', /scheme "npipe"/],
  ['http://x/y', /scheme "http"/],
  ['unix://run/a.sock', /must be absolute/],
  ['unix://', /must be absolute/],
  ['run/a.sock', /neither an absolute path nor a URL/],
  ['unix:///run/a?b', /must not contain/],
  [`unix:///${'x'.repeat(107)}`, /108 bytes, a unix socket can have 107/],
];

for (const [text, message] of refused) {
  test(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => {
    assert.throws(
      () => parseEndpoint(text),
      (error: unknown) => {
        assert.ok(isKind(error, 'invalid'));
        assert.match(String(error), message);
        return true;
      },
    );
  });
}

test('the longest path fits', () => {
  assert.equal(parseEndpoint(`unix:///${'x'.repeat(106)}`).socketPath.length, 107);
});
