import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseCheckpointTimeout, parsePorts, parseRunCommand, parseStreams } from './session-options.ts';

const query = (text: string): URLSearchParams => new URLSearchParams(text);
const none = 'you must specify at least 1 of stdin, stdout, stderr';

describe('streams', () => {
  const cases: Readonly<Record<string, string>> = {
    'input=1&output=1&error=1': 'stdin stdout stderr',
    'output=1': 'stdout',
    'error=1': 'stderr',
    'input=1': 'stdin',
    'input=1&output=1&error=1&tty=1': 'tty stdin stdout',
    'error=1&tty=1': none,
    '': none,
    'tty=1': none,
    'output=true': none,
    'stdout=1': none,
    'output=0&output=1': none,
    'output=1&output=0': 'stdout',
    'output=1&tty=true': 'stdout',
  };
  for (const [text, expected] of Object.entries(cases)) {
    test(`${text || 'nothing'} → ${expected}`, () => {
      const parsed = parseStreams(query(text));
      const shown =
        'refusal' in parsed
          ? parsed.refusal
          : (['tty', 'stdin', 'stdout', 'stderr'] as const).filter((name) => parsed.value[name]).join(' ');
      assert.equal(shown, expected);
    });
  }
});

describe('ports of a WebSocket', () => {
  const many = Array.from({ length: 129 }, (_, index) => index + 1).join(',');
  const cases: Readonly<Record<string, readonly number[] | string>> = {
    'port=80': [80],
    'port=80&port=443': [80, 443],
    'port=80,443&port=1': [80, 443, 1],
    'port=65535': [65_535],
    'port=080': [80],
    '': 'query parameter "port" is required',
    'ports=80': 'query parameter "port" is required',
    'port=': 'query parameter "port" cannot be empty',
    'port=0': 'port "0" must be > 0',
    'port=80,0': 'port "80,0" must be > 0',
    'port=65536': 'unable to parse "65536" as a port: strconv.ParseUint: parsing "65536": value out of range',
    'port=80,': 'unable to parse "80," as a port: strconv.ParseUint: parsing "": invalid syntax',
    'port=-1': 'unable to parse "-1" as a port: strconv.ParseUint: parsing "-1": invalid syntax',
    'port=%2B1': 'unable to parse "+1" as a port: strconv.ParseUint: parsing "+1": invalid syntax',
    'port=0x50': 'unable to parse "0x50" as a port: strconv.ParseUint: parsing "0x50": invalid syntax',
    'port=1e3': 'unable to parse "1e3" as a port: strconv.ParseUint: parsing "1e3": invalid syntax',
    'port=%0a': 'unable to parse "\\n" as a port: strconv.ParseUint: parsing "\\n": invalid syntax',
    [`port=${many}`]: 'query parameter "port" has more than 128 ports',
  };
  for (const [text, expected] of Object.entries(cases)) {
    test(text.slice(0, 40) || 'nothing', () => {
      const parsed = parsePorts({ upgrade: 'WebSocket' }, query(text));
      assert.deepEqual('refusal' in parsed ? parsed.refusal : parsed.value, expected);
    });
  }

  test('others name theirs later, so the query is not read', () => {
    assert.deepEqual(parsePorts({ upgrade: 'SPDY/3.1' }, query('port=nonsense')), { value: [] });
    assert.deepEqual(parsePorts({}, query('')), { value: [] });
  });
});

describe('the command of /run', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  const cases: Readonly<
    Record<string, readonly [Record<string, string>, body: string, query: string, readonly string[]]>
  > = {
    'in the query': [{}, '', 'cmd=ls%20-l', ['ls', '-l']],
    'in a form, which comes first': [form, 'cmd=ls+%2F', 'cmd=rm', ['ls', '/']],
    'a form without it': [form, 'x=y', 'cmd=date', ['date']],
    'a body that is no form': [{ 'content-type': 'application/json' }, 'cmd=ls', 'cmd=date', ['date']],
    'every space cuts': [{}, '', 'cmd=echo%20%20"a%20b"', ['echo', '', '"a', 'b"']],
    'the first one counts': [{}, '', 'cmd=one&cmd=two', ['one']],
    'none at all': [{}, '', '', ['']],
  };
  for (const [name, [headers, body, text, expected]] of Object.entries(cases)) {
    test(name, () => {
      assert.deepEqual(parseRunCommand(headers, Buffer.from(body), query(text)), expected);
    });
  }
});

describe('the time for a checkpoint', () => {
  const refused = 'cannot parse value of timeout parameter';
  const cases: Readonly<Record<string, bigint | string>> = {
    '': 0n,
    'timeout=30': 30n,
    'timeout=x&timeout=%2B5': 5n,
    'timeout=5&timeout=x': refused,
    'timeout=': refused,
    'timeout=-1': refused,
    'timeout=1.5': refused,
    'timeout=9223372036854775807': 9_223_372_036_854_775_807n,
    'timeout=9223372036854775808': refused,
    [`timeout=${'9'.repeat(10_000)}`]: refused,
  };
  for (const [text, expected] of Object.entries(cases)) {
    test(text.slice(0, 40) || 'not given', () => {
      const parsed = parseCheckpointTimeout(query(text));
      assert.equal('refusal' in parsed ? parsed.refusal : parsed.value, expected);
    });
  }
});
