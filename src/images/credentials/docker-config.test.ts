import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseDockerConfig, type DockerConfig } from './docker-config.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function parsed(value: unknown, format: 'json' | 'legacy' = 'json'): DockerConfig {
  const config = parseDockerConfig(JSON.stringify(value), format);
  return 'invalid' in config ? assert.fail(config.invalid) : config;
}

const shown = ({ entries }: DockerConfig): unknown[] =>
  entries.map(({ registry, auth }) => ({ registry, ...auth.reveal() }));

describe('entries', () => {
  test('with name and password, with both in one, and empty', () => {
    const auths = {
      'a.example': { username: 'u', password: 'p', email: 'u@a.example' },
      'https://b.example/v2/': { auth: base64('user:pass:word') },
      'c.example': { username: 'ignored', auth: base64('real:one').replace(/=+$/, '') },
      'd.example': {},
    };
    assert.deepEqual(shown(parsed({ auths })), [
      { registry: 'a.example', username: 'u', password: 'p', email: 'u@a.example' },
      { registry: 'b.example', username: 'user', password: 'pass:word' },
      { registry: 'c.example', username: 'real', password: 'one' },
      { registry: 'd.example', username: '', password: '' },
    ]);
  });

  test('of the older format stand at the top', () => {
    const entry = { 'a.example': { username: 'u', password: 'p' } };
    assert.equal(shown(parsed(entry, 'legacy')).length, 1);
    assert.equal(shown(parsed(entry, 'json')).length, 0, 'without auths there are none');
  });

  test('a bad one costs only itself, and its values are not reported', () => {
    const { entries, problems } = parsed({
      auths: {
        'good.example': { username: 'u', password: 'p' },
        'https://me:hunter2@a.example': { auth: 'hunter2!' },
        'b.example': { auth: base64('hunter2') },
        'c.example': { password: 12345678 },
        'd.example': 'hunter2',
        'not a place hunter2': {},
      },
    });
    assert.deepEqual(
      entries.map(({ registry }) => registry),
      ['good.example'],
    );
    assert.deepEqual(problems, [
      'the entry for a.example is left out: "auth" must be base64 of username:password',
      'the entry for b.example is left out: "auth" must be base64 of username:password',
      'the entry for c.example is left out: "password" is not text',
      'the entry for d.example is left out: it is not a JSON object',
      'an entry whose name is no registry is left out',
    ]);
  });
});

test('a text that is no configuration is invalid, in words that do not repeat it', () => {
  for (const text of [
    '',
    'hunter2',
    '{"auths": hunter2}',
    '[]',
    'null',
    '{"auths": ["hunter2"]}',
    '{"auths": "hunter2"}',
  ]) {
    const config = parseDockerConfig(text, 'json');
    if (!('invalid' in config)) assert.fail(text);
    assert.doesNotMatch(config.invalid, /hunter2/);
  }
});

test('passwords are masked', () => {
  const config = parsed({ auths: { 'a.example': { username: 'u', password: 'hunter2' } } });
  assert.doesNotMatch(JSON.stringify(config), /hunter2/);
});
