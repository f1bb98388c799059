import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as names from './names.ts';

const long = (length: number): string => 'a'.repeat(length);

/** Rule → texts that are right, texts that are wrong. */
const table: readonly (readonly [string, names.TextRule, readonly string[], readonly string[]])[] = [
  ['dnsLabel', names.dnsLabel, ['a', '0', 'a-b', long(63)], ['', 'A', '-a', 'a-', 'a.b', 'a_b', long(64), 'a\n']],
  ['dnsSubdomain', names.dnsSubdomain, ['a', 'a.b-c.0', long(253)], ['', 'a..b', '.a', 'a.', 'A.b', long(254), 'a.-b']],
  ['dnsSearch', names.dnsSearch, ['.', 'a.b.', '_tcp.x', 'a'], ['', '..', 'A', 'a..b', '-a']],
  [
    'qualifiedName',
    names.qualifiedName,
    ['a', 'A_b.C-d', 'example.com/Name', long(63), `${long(253)}/a`],
    ['', '/', 'a/', '/a', 'a/b/c', 'Example.com/a', '-a', 'a b', long(64)],
  ],
  ['labelValue', names.labelValue, ['', 'a', 'A_b.c-0', long(63)], ['-a', 'a.', 'a b', 'ä', long(64)]],
  [
    'portName',
    names.portName,
    ['http', 'a-1', '1a', long(15)],
    ['', '80', '-a', 'a-', 'a--b', 'HTTP', 'a_b', long(16)],
  ],
  ['environmentName', names.environmentName, ['A', 'a b', '1', '-x.y', '~'], ['', 'A=B', 'ä', 'a\tb', 'a\n']],
  ['configKey', names.configKey, ['a', 'A.b_c-d', '.a'], ['', '.', '..', '..a', 'a/b', long(254)]],
  ['headerName', names.headerName, ['X-Real-Ip', 'a1'], ['', 'a b', 'a:', 'ä']],
  ['sysctlName', names.sysctlName, ['net.core.somaxconn', 'net/ipv4/x', 'a_b'], ['', 'A.b', 'a..b', '_a', long(254)]],
  [
    'ipAddress',
    names.ipAddress,
    ['10.0.0.1', '::1', '2001:db8::1'],
    ['', '10.0.0', '10.0.0.256', 'host', '10.0.0.0/8'],
  ],
  ['descendingPath', names.descendingPath, ['', 'a/b', '..a', 'a/..b'], ['/a', '..', 'a/../b', 'a/..']],
  ['unreservedPath', names.unreservedPath, ['a', 'a/..b'], ['..a', '..', '/a']],
  ['noBacksteps', names.noBacksteps, ['/a/b', 'a'], ['/a/../b', '..']],
];
for (const [name, rule, right, wrong] of table) {
  test(name, () => {
    for (const text of right) assert.equal(rule(text), undefined, JSON.stringify(text));
    for (const text of wrong) assert.notEqual(rule(text), undefined, JSON.stringify(text));
  });
}

test('numbers', () => {
  for (const [value, good] of [
    [0, false],
    [1, true],
    [65535, true],
    [65536, false],
    [-1, false],
  ] as const) {
    assert.equal(names.portNumber(value) === undefined, good);
  }
  for (const [value, good] of [
    [-1, false],
    [0, true],
    [2 ** 31 - 1, true],
    [2 ** 31, false],
  ] as const) {
    assert.equal(names.userId(value) === undefined, good);
  }
});
