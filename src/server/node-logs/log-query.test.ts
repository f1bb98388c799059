import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { journalCommand, knownServices, logFilesOf } from './journal-command.ts';
import { decodeLogQuery } from './log-query.ts';

const decode = (query: string, withPath = false): ReturnType<typeof decodeLogQuery> =>
  decodeLogQuery(new URLSearchParams(query), withPath);

describe('a query about the node', () => {
  test('that asks for nothing is none', () => {
    assert.deepEqual(decode(''), { kind: 'none' });
    assert.deepEqual(decode('verbose=1&boot=&pattern=', true), { kind: 'none' });
  });

  test('names services or one file', () => {
    assert.deepEqual(decode('query=kubelet&query=%20&query=foo@1.x:y'), {
      kind: 'services',
      services: ['kubelet', 'foo@1.x:y'],
      options: {},
    });
    assert.deepEqual(decode('query=/foo.log'), { kind: 'file', file: '/foo.log' });
  });

  const refused: readonly (readonly [string, number, string])[] = [
    ['query=', 400, 'query: Invalid value: [""]: may not be empty'],
    ['query=%20&query=', 400, 'query: Invalid value: [" ",""]: may not be empty'],
    ['query=a&sinceTime=now', 400, 'sinceTime: Invalid value: "now": invalid time format'],
    [
      'query=a&boot=x&tailLines=99999999999999999999',
      400,
      '[boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax, ' +
        'tailLines: Invalid value: "99999999999999999999": strconv.Atoi: parsing "99999999999999999999": value out of range]',
    ],
    ['tailLines=5', 406, 'query: Required value: cannot be empty with options'],
    ['query=a&query=/b', 406, 'query: Invalid value: "[/b], [a]": cannot specify a file and service'],
    ['query=/a&query=/b', 406, 'query: Invalid value: ["/a","/b"]: cannot specify more than one file'],
    ['query=/a&boot=0', 406, 'query: Invalid value: ["/a"]: cannot specify file with options'],
    ['query=a;b', 406, 'query: Invalid value: "a;b": input contains unsupported characters'],
    [`query=${'a'.repeat(257)}`, 406, `query: Invalid value: "${'a'.repeat(256)}": length must be at most 256`],
    ['query=a&query=b&query=c&query=d&query=e', 406, 'query: Too many: 5: must have at most 4 items'],
    ['query=a&boot=1', 406, 'boot: Invalid value: 1: must be less than 1'],
    ['query=a&tailLines=100001', 406, 'tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive'],
    ['query=a&tailLines=-1', 406, 'tailLines: Invalid value: -1: must be between 0 and 100000, inclusive'],
    [
      'query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z',
      406,
      'untilTime: Invalid value: "2026-01-01T00:00:00Z": must be after `sinceTime`',
    ],
    ['query=a&pattern=(', 406, 'pattern: Invalid value: "(": error parsing regexp: missing closing ): `(`'],
  ];
  for (const [query, status, body] of refused) {
    test(`is refused: ${query.slice(0, 60)}`, () => {
      assert.deepEqual(decode(query), { kind: 'refused', status, body: `${body}\n` });
    });
  }

  test('has no path beside it', () => {
    const body = 'path not allowed in query mode\n';
    assert.deepEqual(decode('query=a', true), { kind: 'refused', status: 406, body });
    assert.deepEqual(decode('tailLines=1', true), { kind: 'refused', status: 406, body });
  });
});

describe('journalctl', () => {
  const command = (query: string): readonly string[] => {
    const decoded = decode(query);
    assert.ok(decoded.kind === 'services');
    return journalCommand(decoded);
  };
  const always = ['--utc', '--no-pager', '--output=short-precise'];

  test('is asked for units alone', () => {
    assert.deepEqual(command('query=kubelet&query=containerd'), [...always, '--unit=kubelet', '--unit=containerd']);
  });

  test('gets every option as an argument of its own, times in UTC', () => {
    const query =
      'query=a&sinceTime=2026-01-02T03:04:05%2B02:00&untilTime=2026-11-12T13:14:15.9Z&tailLines=7&pattern=x%20%22$(y)&boot=-1';
    assert.deepEqual(command(query), [
      ...always,
      '--since=2026-1-2 1:4:5',
      '--until=2026-11-12 13:14:15',
      '--pager-end',
      '--lines=7',
      '--unit=a',
      '--grep=x "$(y)',
      '--boot',
      '-1',
    ]);
  });

  test('knows a service by the whole name of its unit', () => {
    const known = knownServices(['kubelet', 'let', 'a.socket', 'b'], 'kubelet.service\na.socket\ncrab.service\n');
    assert.deepEqual([...known], ['kubelet', 'a.socket']);
  });

  test('and what it does not know may have a file', () => {
    assert.deepEqual(logFilesOf('a'), ['a', 'a.log', 'a/a.log']);
  });
});
