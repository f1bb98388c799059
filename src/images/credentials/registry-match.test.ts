import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDefaultRegistry, matchesImage, registryKey } from './registry-match.ts';

describe('which images a registry key matches', () => {
  const table: readonly (readonly [pattern: string, repository: string, matches: boolean])[] = [
    ['example.com', 'example.com/app', true],
    ['example.com', 'example.com/team/app', true],
    ['example.com', 'sub.example.com/app', false],
    ['example.com', 'example.org/app', false],
    ['*.example.com', 'a.example.com/app', true],
    ['*.example.com', 'a.b.example.com/app', false],
    ['*.example.com', 'example.com/app', false],
    ['*.*.example.com', 'a.b.example.com/app', true],
    ['a*b.example.com', 'axxb.example.com/app', true],
    ['a*b.example.com', 'axxc.example.com/app', false],
    ['*', 'localhost/app', true],
    ['*', 'example.com/app', false],
    ['?.example.com', 'a.example.com/app', true],
    ['?.example.com', 'ab.example.com/app', false],
    ['[a-c]x.example.com', 'bx.example.com/app', true],
    ['[^a-c]x.example.com', 'bx.example.com/app', false],
    ['[a-c.example.com', 'a.example.com/app', false],
    [String.raw`\*.example.com`, 'a.example.com/app', false],
    ['example.com:5000', 'example.com:5000/app', true],
    ['example.com:5000', 'example.com/app', false],
    ['example.com', 'example.com:5000/app', false],
    ['*.example.com:5000', 'a.example.com:5000/app', true],
    ['example.com:*', 'example.com:5000/app', false],
    ['example.com/team', 'example.com/team/app', true],
    ['example.com/team', 'example.com/teams/app', true],
    ['example.com/team/', 'example.com/teams/app', false],
    ['example.com/team', 'example.com/other/app', false],
    ['example.com/*/app', 'example.com/team/app', false],
    ['[::1]:5000', '[::1]:5000/app', true],
    ['[::1]:5000', '[::2]:5000/app', false],
    ['10.0.0.1', '10.0.0.1/app', true],
  ];
  for (const [pattern, repository, matches] of table) {
    test(`${pattern} ${matches ? 'is' : 'is not'} for ${repository}`, () =>
      assert.equal(matchesImage(pattern, repository), matches));
  }
});

test('registry keys are host and path', () => {
  const table: Readonly<Record<string, string | undefined>> = {
    'example.com': 'example.com',
    'https://example.com': 'example.com',
    'http://example.com/': 'example.com',
    'https://example.com:5000/v2/': 'example.com:5000',
    'https://index.docker.io/v1/': 'index.docker.io',
    'https://example.com/v1/team': 'example.com/team',
    'example.com/team/app': 'example.com/team/app',
    'https://somebody:secret@example.com/team': 'example.com/team',
    'example.com?x=y': 'example.com',
    '': undefined,
    'https://': undefined,
    '/team': undefined,
    'exa mple.com': undefined,
    'example.com\n': undefined,
  };
  for (const [location, key] of Object.entries(table)) assert.equal(registryKey(location), key, location);
});

test('images of the default registry', () => {
  for (const name of ['busybox', 'team/app', 'docker.io/library/busybox', 'index.docker.io/team/app']) {
    assert.equal(isDefaultRegistry(name), true, name);
  }
  for (const name of ['example.com/app', 'localhost:5000/app', '/app', '']) {
    assert.equal(isDefaultRegistry(name), false, name);
  }
});
